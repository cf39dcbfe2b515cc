;;; pillion-roots.el --- The workspace roots  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Agents connect in the workspace roots: the folder that Emacs was started in,
;; and the projects of the files that are open.  Never the home folder itself,
;; nor the root of the file system.

;;; Code:

(require 'project)
(require 'pillion-core)
(require 'pillion-client)

(defconst pillion-roots--marks '(".git" ".jj" ".hg" ".svn" ".bzr" ".pijul" "_darcs")
  "The names that mark the folder of a repository.")

(defvar pillion-roots-files-function #'ignore
  "Returns the files to report, the one used last first.")

(defvar pillion-roots--projects (make-hash-table :test 'equal)
  "By folder: its project, or `none'.")

(defvar pillion-roots--known nil
  "The roots that Pillion knows.")

(defun pillion-roots--real (folder)
  "FOLDER with links resolved, if it is there."
  (and (stringp folder) (not (file-remote-p folder)) (file-directory-p folder)
       (directory-file-name (file-truename folder))))

(defun pillion-roots--workspace-p (folder)
  "Return non-nil if FOLDER may be reported to agents at all."
  (and folder
       (not (equal folder (directory-file-name (file-name-directory folder))))
       (not (equal folder (pillion-roots--real "~/")))))

(defun pillion-roots--find (folder)
  "The project around FOLDER, or nil."
  (let* ((project (ignore-errors (project-current nil folder)))
         (root (and project (ignore-errors (project-root project)))))
    (or (and root (pillion-roots--workspace-p (pillion-roots--real root))
             (pillion-roots--real root))
        (let ((found (locate-dominating-file
                      folder
                      (lambda (it)
                        (and (pillion-roots--workspace-p (pillion-roots--real it))
                             (seq-some (lambda (mark) (file-exists-p (expand-file-name mark it)))
                                       pillion-roots--marks))))))
          (and found (pillion-roots--real found))))))

(defun pillion-roots-project (folder)
  "The project around FOLDER, or nil; looked for once."
  (let ((found (or (gethash folder pillion-roots--projects)
                   (puthash folder (or (pillion-roots--find folder) 'none)
                            pillion-roots--projects))))
    (and (stringp found) found)))

(defun pillion-roots--folder (file)
  "The real folder of FILE."
  (pillion-roots--real (file-name-directory (file-truename file))))

(defun pillion-roots--given ()
  "The roots that the person set."
  (let ((given (if (functionp pillion-roots)
                   (condition-case error
                       (funcall pillion-roots)
                     (error (pillion-say-once "`pillion-roots' failed: %s"
                                              (error-message-string error))
                            nil))
                 pillion-roots)))
    (if (seq-every-p #'stringp given)
        (delete-dups (delq nil (mapcar #'pillion-roots--real
                                       (mapcar #'expand-file-name given))))
      (pillion-say-once "`pillion-roots' must be a list of folders, or return one")
      nil)))

(defun pillion-roots-list ()
  "The workspace roots as real paths, each once."
  (or (pillion-roots--given)
      (let* ((files (funcall pillion-roots-files-function))
             (folders (delq nil (mapcar #'pillion-roots--folder files)))
             (start (and (not (daemonp)) (pillion-roots--real command-line-default-directory)))
             (roots (seq-filter #'pillion-roots--workspace-p
                                (cons start
                                      (sort (delq nil (mapcar #'pillion-roots-project folders))
                                            #'string<)))))
        (delete-dups
         (or roots
             ;; A file of the home folder's, say: its own folder is better than no agent at all.
             (seq-filter #'pillion-roots--workspace-p (seq-take folders 1)))))))

(defun pillion-roots-for-terminal ()
  "The folder for an agent in a terminal."
  (let* ((roots (pillion-roots-list))
         (file (car (funcall pillion-roots-files-function)))
         (folder (and file (pillion-roots--folder file)))
         (project (and folder (pillion-roots-project folder)))
         (around (and folder
                      (seq-filter (lambda (root) (file-in-directory-p folder root)) roots))))
    (cond ((and project (member project roots)) project)
          (around (car (sort around (lambda (a b) (> (length a) (length b))))))
          (roots (car roots))
          ((file-remote-p default-directory) (expand-file-name "~/"))
          (t default-directory))))

(defun pillion-roots--workspace-folder (root)
  "ROOT as the protocol has it."
  (list :uri (pillion-uri root) :name (pillion-valid (file-name-nondirectory root))))

(defun pillion-roots-begin ()
  "The workspace folders for `initialize'."
  (clrhash pillion-roots--projects)
  (setq pillion-roots--known (pillion-roots-list))
  (mapcar #'pillion-roots--workspace-folder pillion-roots--known))

(defun pillion-roots-refresh (&optional is-new)
  "Report the roots if they have changed.
If IS-NEW, folders may have become projects."
  (when is-new
    (clrhash pillion-roots--projects))
  (let* ((now (pillion-roots-list))
         (added (seq-difference now pillion-roots--known))
         (removed (seq-difference pillion-roots--known now)))
    (setq pillion-roots--known now)
    (when (or added removed)
      (pillion-client-notify
       :workspace/didChangeWorkspaceFolders
       `(:event (:added ,(vconcat (mapcar #'pillion-roots--workspace-folder added))
                 :removed ,(vconcat (mapcar #'pillion-roots--workspace-folder removed))))))))

(defun pillion-roots-warn-if-none ()
  "Report, the first time, that no agent can find this Emacs."
  (unless (pillion-roots-list)
    (pillion-say-once "no workspace root, so no agent connects. Hint: set `pillion-roots'")))

(setq pillion-client-initialize-function #'pillion-roots-begin)

(provide 'pillion-roots)
;;; pillion-roots.el ends here
