;;; pillion-roots.el --- The workspace roots  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The workspace, of which Pillion makes the roots, in which agents connect: the
;; folder that Emacs was started in, the files that are open, and their projects.

;;; Code:

(require 'project)
(require 'pillion-core)
(require 'pillion-client)

(defvar pillion-roots-files-function #'ignore
  "Returns the files to report, the one used last first.")

(defvar pillion-roots--projects (make-hash-table :test 'equal)
  "By folder: its project, or `none'.")

(defvar pillion-roots--sent nil
  "The workspace that Pillion knows.")

(defun pillion-roots--project (folder)
  "The project around FOLDER as Emacs knows it, or nil; looked for once."
  (let ((found (or (gethash folder pillion-roots--projects)
                   (puthash folder
                            (let ((project (ignore-errors (project-current nil folder))))
                              (or (and project (ignore-errors (project-root project))) 'none))
                            pillion-roots--projects))))
    (and (stringp found) found)))

(defun pillion-roots--chosen ()
  "The roots that the person set."
  (let ((given (if (functionp pillion-roots)
                   (condition-case error
                       (funcall pillion-roots)
                     (error (pillion-say-once "`pillion-roots' failed: %s"
                                              (error-message-string error))
                            nil))
                 pillion-roots)))
    (if (seq-every-p #'stringp given)
        given
      (pillion-say-once "`pillion-roots' must be a list of folders, or return one")
      nil)))

(defun pillion-roots--folders ()
  "The folder that Emacs was started in."
  (unless (daemonp)
    (list command-line-default-directory)))

(defun pillion-roots--projects-of (files)
  "The projects of FILES."
  (delq nil (mapcar #'pillion-roots--project
                    (delete-dups (mapcar #'file-name-directory files)))))

(defun pillion-roots--uris (paths)
  "The URIs of those of PATHS that are on this machine, each once."
  (vconcat (delete-dups
            (mapcar #'pillion-uri
                    ;; In a remote buffer a relative name is remote, too.
                    (seq-remove #'file-remote-p (mapcar #'expand-file-name paths))))))

(defun pillion-roots--workspace ()
  "The workspace as the protocol has it."
  (let ((chosen (pillion-roots--chosen))
        (files (funcall pillion-roots-files-function)))
    (list :folders (pillion-roots--uris (or chosen (pillion-roots--folders)))
          :projects (pillion-roots--uris (and (not chosen) (pillion-roots--projects-of files)))
          :files (pillion-roots--uris files)
          :chosen (if chosen t :json-false))))

(defun pillion-roots-begin ()
  "The workspace for `initialize'."
  (clrhash pillion-roots--projects)
  (setq pillion-roots--sent (pillion-roots--workspace)))

(defun pillion-roots-refresh (&optional is-new)
  "Report the workspace if it has changed.
If IS-NEW, folders may have become projects."
  (when is-new
    (clrhash pillion-roots--projects))
  (let ((now (pillion-roots--workspace)))
    (when (or is-new (not (equal now pillion-roots--sent)))
      (pillion-client-notify :pillion/didChangeWorkspace now)
      (setq pillion-roots--sent now))))

(defun pillion-roots-await ()
  "Have the roots of this moment worked out, and wait until they are known.
Not for long: disks may hang."
  (when (pillion-client-running-p)
    (let ((now (pillion-roots--workspace)))
      (setq pillion-roots--sent now)
      (ignore-errors (pillion-client-ask-now :pillion/workspace now)))))

(defun pillion-roots-for-terminal ()
  "The folder for an agent in a terminal."
  (or (pillion-client-get :start)
      (if (file-remote-p default-directory)
          (expand-file-name "~/")
        default-directory)))

(defun pillion-roots-warn-if-none ()
  "Report, the first time, that no agent can find this Emacs.
While Emacs starts, Pillion may know less than what is open by now."
  (unless (or (pillion-client-get :roots)
              (not (equal (pillion-roots--workspace) pillion-roots--sent)))
    (pillion-say-once "no workspace root, so no agent connects. Hint: %s"
                      (if (pillion-roots--chosen)
                          "`pillion-roots' names no folder that is there"
                        "set `pillion-roots'"))))

(setq pillion-client-initialize-function #'pillion-roots-begin
      pillion-client-environment-function #'pillion-roots-warn-if-none)

(provide 'pillion-roots)
;;; pillion-roots.el ends here
