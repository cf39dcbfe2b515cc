;;; pillion-reload.el --- Files that agents wrote  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What agents write reaches the buffers: one without unsaved changes is
;; reverted, one with them is left alone with a message.  There are no prompts.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)

(defconst pillion-reload--expected-for 10
  "For how many seconds a file that an agent is about to write is watched.")

(defvar pillion-reload--timer nil)
(defvar pillion-reload--expected nil
  "Pairs of a path and the time until which it is watched.")
(defvar-local pillion-reload--conflict nil
  "The modification time of the file when the person was last notified.")

(defun pillion-reload--wanted-p ()
  "Whether agents may write."
  (or (pillion-client-get :agents) pillion-reload--expected))

(defun pillion-reload--revert (buffer)
  "Reload the file of BUFFER, keeping points and undo history."
  (with-current-buffer buffer
    (let ((inhibit-message t)
          (message-log-max nil)
          (revert-without-query '(".")))
      (condition-case nil
          (revert-buffer t t t)
        (error nil)))))

(defun pillion-reload--look-at (buffer)
  "Reload the file of BUFFER if it changed on disk."
  (let ((path (pillion-file buffer)))
    (when (and path (not (buffer-base-buffer buffer))
               (not (verify-visited-file-modtime buffer))
               (file-regular-p path))
      (if (not (buffer-modified-p buffer))
          (pillion-reload--revert buffer)
        (with-current-buffer buffer
          (let ((time (file-attribute-modification-time (file-attributes path))))
            (unless (equal time pillion-reload--conflict)
              (setq pillion-reload--conflict time)
              (pillion-say "%s changed on disk, and you have unsaved changes. Hint: M-x revert-buffer loads it"
                           (file-name-nondirectory path)))))))))

(defun pillion-reload--buffers ()
  "Those that the person sees or changed, and those that agents write."
  (let ((now (float-time)))
    (setq pillion-reload--expected
          (seq-filter (lambda (it) (> (cdr it) now)) pillion-reload--expected))
    (seq-filter (lambda (buffer)
                  (and (pillion-file buffer)
                       (or (get-buffer-window buffer t)
                           (buffer-modified-p buffer)
                           (assoc (pillion-file buffer) pillion-reload--expected)
                           (assoc (file-truename (pillion-file buffer))
                                  pillion-reload--expected))))
                (buffer-list))))

(defun pillion-reload--tick ()
  "Check the files that agents may have written."
  (if (not (pillion-reload--wanted-p))
      (pillion-reload-detach)
    (unless (pillion-busy-p)
      (mapc #'pillion-reload--look-at (pillion-reload--buffers)))))

(defun pillion-reload-check ()
  "Start checking, while an agent is connected."
  (when (and (pillion-reload--wanted-p) (not (timerp pillion-reload--timer)))
    (setq pillion-reload--timer (run-at-time 0.2 0.5 #'pillion-reload--tick))))

(defun pillion-reload-expect (path)
  "An agent is about to write the file PATH."
  (push (cons path (+ (float-time) pillion-reload--expected-for)) pillion-reload--expected)
  (pillion-reload-check))

(defun pillion-reload-detach ()
  "Stop checking."
  (when (timerp pillion-reload--timer)
    (cancel-timer pillion-reload--timer))
  (setq pillion-reload--timer nil))

(add-hook 'pillion-status-changed-hook #'pillion-reload-check)

(provide 'pillion-reload)
;;; pillion-reload.el ends here
