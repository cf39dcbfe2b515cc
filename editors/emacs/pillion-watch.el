;;; pillion-watch.el --- When files change on disk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The system reports what changes in a folder.  Where it cannot, it is looked
;; for every ten seconds.

;;; Code:

(require 'filenotify)
(require 'pillion-core)

(defconst pillion-watch--poll 10
  "Seconds between two looks at a folder that reports nothing.")

(defvar pillion-watch--folders nil
  "Pairs of a folder and its watch, which is nil where there is none.")
(defvar pillion-watch--timer nil)
(defvar pillion-watch--paths nil)
(defvar pillion-watch--changed #'ignore)

(defun pillion-watch--on-event (event)
  "Something happened in a folder: EVENT."
  (pcase-let ((`(,descriptor ,action ,file ,other) event))
    (if (eq action 'stopped)
        (setq pillion-watch--folders
              (seq-remove (lambda (it) (equal (cdr it) descriptor)) pillion-watch--folders))
      (when (or (member file pillion-watch--paths) (member other pillion-watch--paths))
        (funcall pillion-watch--changed)))))

(defun pillion-watch--add (folder)
  "Watch FOLDER; a pair of it and its watch."
  (cons folder
        (and file-notify--library
             ;; There may be too many, or the folder is gone.
             (ignore-errors
               (file-notify-add-watch folder '(change attribute-change)
                                      #'pillion-watch--on-event)))))

(defun pillion-watch--remove (entry)
  "Stop watching the folder of ENTRY."
  (when (cdr entry)
    (ignore-errors (file-notify-rm-watch (cdr entry)))))

(defun pillion-watch (paths changed)
  "Watch PATHS, and nothing else: CHANGED is called when one may have changed."
  (let* ((paths (delete-dups (append paths (mapcar #'file-truename paths))))
         (wanted (delete-dups (mapcar (lambda (it) (directory-file-name (file-name-directory it)))
                                      paths)))
         (kept (seq-filter (lambda (it) (member (car it) wanted)) pillion-watch--folders)))
    (setq pillion-watch--changed changed
          pillion-watch--paths paths)
    (mapc #'pillion-watch--remove (seq-difference pillion-watch--folders kept))
    (setq pillion-watch--folders
          (append kept
                  (mapcar #'pillion-watch--add
                          (seq-remove (lambda (it) (assoc it kept)) wanted))))
    (let ((is-blind (seq-some (lambda (it) (null (cdr it))) pillion-watch--folders)))
      (cond ((and is-blind (not pillion-watch--timer))
             (setq pillion-watch--timer
                   (run-at-time pillion-watch--poll pillion-watch--poll
                                (lambda () (funcall pillion-watch--changed)))))
            ((and (not is-blind) pillion-watch--timer)
             (cancel-timer pillion-watch--timer)
             (setq pillion-watch--timer nil))))))

(provide 'pillion-watch)
;;; pillion-watch.el ends here
