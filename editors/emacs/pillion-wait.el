;;; pillion-wait.el --- What waits for the person  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A proposal that must not disturb somebody waits for what ends that: a command,
;; a pause, another window, a frame.  While nothing waits, nothing is watched.

;;; Code:

(require 'pillion-core)

(defconst pillion-wait--poll 10
  "Every so many seconds it is looked for what no event reports.
A window manager that shows a frame again, for example.")

(defvar pillion-wait--list nil
  "Pairs of a condition and an action, in the order in which they came.")
(defvar pillion-wait--timers nil)
(defvar pillion-wait--soon nil)

(defconst pillion-wait--hooks
  '(post-command-hook minibuffer-exit-hook window-selection-change-functions
    window-buffer-change-functions after-make-frame-functions after-delete-frame-functions))

(defun pillion-wait (condition action)
  "Call ACTION as soon as CONDITION is met.
CONDITION returns non-nil when it is, or `never' to give up."
  (setq pillion-wait--list (append pillion-wait--list (list (cons condition action))))
  (unless pillion-wait--timers
    (pillion-wait--attach))
  (pillion-wait--look))

(defun pillion-wait--look ()
  "Do what need not wait any longer."
  (dolist (it pillion-wait--list)
    ;; An action may have removed it.
    (when (memq it pillion-wait--list)
      (let ((is-met (condition-case error
                        (funcall (car it))
                      (error (pillion-say "%s" (error-message-string error)) 'never))))
        (when is-met
          (setq pillion-wait--list (remq it pillion-wait--list))
          (unless (eq is-met 'never)
            (funcall (cdr it)))))))
  (when (and pillion-wait--timers (null pillion-wait--list))
    (pillion-wait--detach)))

(defun pillion-wait-look-soon (&rest _)
  "Look again, once Emacs waits for input."
  (unless (memq pillion-wait--soon timer-list)
    (setq pillion-wait--soon (run-at-time 0 nil #'pillion-wait--look))))

(defun pillion-wait--attach ()
  "Begin to watch for what ends a wait."
  (setq pillion-wait--timers
        (list (run-with-idle-timer pillion-typing-delay t #'pillion-wait--look)
              (run-with-idle-timer pillion-editing-delay t #'pillion-wait--look)
              (run-at-time pillion-wait--poll pillion-wait--poll #'pillion-wait--look)))
  (dolist (hook pillion-wait--hooks)
    (add-hook hook #'pillion-wait-look-soon))
  (add-function :after after-focus-change-function #'pillion-wait-look-soon))

(defun pillion-wait--detach ()
  "Nothing waits any longer."
  (mapc #'cancel-timer pillion-wait--timers)
  (setq pillion-wait--timers nil)
  (dolist (hook pillion-wait--hooks)
    (remove-hook hook #'pillion-wait-look-soon))
  (remove-function after-focus-change-function #'pillion-wait-look-soon))

(provide 'pillion-wait)
;;; pillion-wait.el ends here
