;;; pillion-astray.el --- Keys that were meant for something else  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Who is about to type does not see at once that a proposal has taken the focus.
;; Until they pause, what they type there does nothing.
;;
;; Nor that it is gone, and what they press to decide would commit what they wrote
;; below it, or run it.  Until they pause, the keys that decide do nothing there.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-view)

(defconst pillion-astray--delay 1.0
  "For how many seconds keys are meant for what had the focus before.")

(defconst pillion-astray--burst 0.3
  "Keys that follow each other within so many seconds are one text.")

(defvar pillion-astray--left nil
  "The proposal whose view has just gone from under the person.")

(defun pillion-astray--within-p (seconds time)
  "Return non-nil if TIME was less than SECONDS ago."
  ;; After the clock was set back, it lies in the future.
  (< -1 (- (float-time) time) seconds))

(defun pillion-astray-p (diff)
  "Return non-nil if a key was meant for what had the focus before.
That is any key of the first second after DIFF has come or gone, and
those that follow it quickly."
  (let ((came-at (pillion-diff-came-at diff)))
    (and came-at
         (or (pillion-astray--within-p pillion-astray--delay came-at)
             (pillion-astray--within-p pillion-astray--burst (pillion-diff-astray-at diff))))))

(defun pillion-astray-check ()
  "Before a command: have another one run if it was meant for something else."
  (let ((diff (pillion-view-focused)))
    (when diff
      (cond ((not (pillion-astray-p diff))
             (setf (pillion-diff-came-at diff) nil))
            ;; Of these, it is known how long to wait.
            ((not (or (memq this-command '(pillion-accept pillion-reject))
                      (mouse-event-p last-input-event)))
             (pillion-astray--replace diff))))))

(defun pillion-astray--replace (diff)
  "Have the command do nothing, because of when DIFF came or went."
  (setf (pillion-diff-astray-at diff) (float-time))
  (setq this-command #'pillion-astray-ignore))

(defun pillion-astray-left (diff)
  "The view of DIFF, which had the focus, is gone."
  (setf (pillion-diff-came-at diff) (float-time)
        (pillion-diff-astray-at diff) 0.0)
  (setq pillion-astray--left diff)
  ;; Before those that already do something for the command.
  (add-hook 'pre-command-hook #'pillion-astray--check-left -90)
  (run-at-time pillion-astray--delay nil #'pillion-astray--end-left))

(defun pillion-astray--end-left ()
  "Stop guarding what is below the view that is gone, once keys pause."
  (if (and pillion-astray--left (pillion-astray-p pillion-astray--left))
      (run-at-time pillion-astray--burst nil #'pillion-astray--end-left)
    (setq pillion-astray--left nil)
    (remove-hook 'pre-command-hook #'pillion-astray--check-left)))

(defun pillion-astray--check-left ()
  "Before a command: have another one run if it was to decide about what is gone."
  (cond ((not (pillion-astray-p pillion-astray--left))
         (pillion-astray--end-left))
        ;; In another proposal, they decide about that one.
        ((and (not (pillion-view-focused))
              (memq (lookup-key pillion-diff-mode-map (this-single-command-keys))
                    '(pillion-accept pillion-reject)))
         (pillion-astray--replace pillion-astray--left))))

(defun pillion-astray-ignore ()
  "Say that a key did nothing."
  (interactive)
  (let ((diff (pillion-view-focused)))
    (if diff
        (pillion-say "a proposal for %s has just opened: keys count once you pause"
                     (pillion-proposal-name diff))
      (pillion-say "the proposal for %s has just closed: %s counts here once you pause"
                   (file-name-nondirectory (pillion-diff-path pillion-astray--left))
                   (key-description (this-single-command-keys))))))

(provide 'pillion-astray)
;;; pillion-astray.el ends here
