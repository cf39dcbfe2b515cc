;;; pillion-astray.el --- Keys that were meant for something else  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Who is about to type does not see at once that a proposal has taken the focus.
;; Until they pause, what they type there does nothing.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-view)

(defconst pillion-astray--delay 1.0
  "For how many seconds keys are meant for what had the focus before.")

(defconst pillion-astray--burst 0.3
  "Keys that follow each other within so many seconds are one text.")

(defun pillion-astray-p (diff)
  "Return non-nil if a key for DIFF was meant for what had the focus before.
That is any key of the first second, and those that follow it quickly."
  (let ((came-at (pillion-diff-came-at diff)))
    (and came-at
         (< (float-time)
            (max (+ came-at pillion-astray--delay)
                 (+ (pillion-diff-astray-at diff) pillion-astray--burst))))))

(defun pillion-astray-check ()
  "Before a command: have another one run if it was meant for something else."
  (let ((diff (pillion-view-focused)))
    (when diff
      (cond ((not (pillion-astray-p diff))
             (setf (pillion-diff-came-at diff) nil))
            ;; Of these, it is known how long to wait.
            ((not (or (memq this-command '(pillion-accept pillion-reject))
                      (mouse-event-p last-input-event)))
             (setf (pillion-diff-astray-at diff) (float-time))
             (setq this-command #'pillion-astray-ignore))))))

(defun pillion-astray-ignore ()
  "Say that a key did nothing."
  (interactive)
  (let ((diff (pillion-view-focused)))
    (pillion-say "a proposal for %s has just opened: keys count once you pause"
                 (if diff (pillion-proposal-name diff) "a file"))))

(provide 'pillion-astray)
;;; pillion-astray.el ends here
