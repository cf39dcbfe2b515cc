;;; pillion-doctor.el --- Why something does not work  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What the package knows of itself, and what `pillion doctor' finds on this
;; machine.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-roots)

(defun pillion-doctor-status ()
  "Return the state of Pillion in words."
  (if (not (pillion-client-running-p))
      (if (eq pillion-client-phase 'stopped)
          "not running. Hint: M-x pillion-start"
        (symbol-name pillion-client-phase))
    (let ((agents (mapcar (lambda (it) (pillion-plain (plist-get it :displayName)))
                          (pillion-client-get :agents))))
      (format "version %s, port %s, %s, %d pending%s"
              (or (pillion-client-get :version) "?") (or (pillion-client-get :port) "?")
              (if agents (string-join agents ", ") "no agent")
              (or (pillion-client-get :pending) 0)
              (concat (if (or (pillion-client-get :roots) (not (pillion-client-get :port))) ""
                        ", no workspace root. Hint: set `pillion-roots'")
                      (string-remove-suffix
                       "." (mapconcat (lambda (it) (concat ". " (pillion-plain it)))
                                      (pillion-client-get :notes) "")))))))

(defun pillion-doctor--facts ()
  "Return the facts that the package knows about itself, one per line."
  (let ((roots (pillion-client-get :roots)))
    (delq nil
          `(,(format "Pillion for Emacs %s, Emacs %s" pillion-version emacs-version)
            ,(concat "Companion: " (pillion-doctor-status))
            ,(and pillion-client-last-end
                  (concat "It last ended with " pillion-client-last-end))
            ,(concat "Workspace roots: "
                     (if roots (string-join (mapcar #'pillion-plain roots) ", ") "none"))
            ,@(mapcar (lambda (it) (concat "Warning: " (pillion-plain it)))
                      (pillion-client-get :warnings))
            ,@(mapcar #'pillion-plain (pillion-client-get :notes))))))

(defun pillion-doctor--insert (process text)
  "Add TEXT, which PROCESS printed, to its buffer."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (let ((inhibit-read-only t))
        (save-excursion
          (goto-char (point-max))
          (insert text))))))

(defun pillion-doctor--run (command &optional about)
  "Show what the program prints for COMMAND, below the text ABOUT it."
  (let ((buffer (get-buffer-create (format "*pillion %s*" command)))
        (program (pillion-client-program)))
    (with-current-buffer buffer
      (special-mode)
      (setq default-directory (file-name-as-directory (pillion-roots-for-terminal)))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (or about "")
                (if program (format "$ pillion %s\n" command)
                  (format "`%s' was not found: install it, or set `pillion-command'\n"
                          (car pillion-command)))))
      (goto-char (point-min)))
    (when program
      (make-process :name "pillion-doctor" :buffer buffer
                    :command `(,program ,@(cdr pillion-command) ,command)
                    :connection-type 'pipe :coding 'utf-8 :noquery t
                    :filter #'pillion-doctor--insert :sentinel #'ignore))
    (pop-to-buffer buffer)))

;;;###autoload
(defun pillion-doctor ()
  "Check the program, the companion, the agents and the options."
  (interactive)
  (pillion-doctor--run "doctor" (concat (string-join (pillion-doctor--facts) "\n") "\n\n")))

;;;###autoload
(defun pillion-log ()
  "Show what was decided in this project, and what came of it."
  (interactive)
  (pillion-doctor--run "log"))

(provide 'pillion-doctor)
;;; pillion-doctor.el ends here
