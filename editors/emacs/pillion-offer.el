;;; pillion-offer.el --- When a proposal is shown  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A proposal comes into sight by itself, but not while that would disturb the
;; person; then a message announces it, and the mode line has it until it is seen.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-terminal)
(require 'pillion-view)
(require 'pillion-wait)

(defun pillion-offer--free-p (diff)
  "Return non-nil if DIFF may be shown now; `never' if it is no longer pending."
  (cond ((or (not (pillion-diff--pending-p diff)) (pillion-diff-config diff)) 'never)
        ((pillion-busy-p) nil)
        ((pillion-offer--after-next-p diff) nil)
        ((seq-some (lambda (it) (and (not (eq it diff)) (pillion-view-shown-p it)))
                   (append pillion-diff--pending pillion-diff--leaving))
         nil)
        ;; In a terminal, nothing that is typed goes astray.
        ((and pillion-diff-keep-terminal-focus
              (pillion-terminal-buffer-p (window-buffer (selected-window))))
         t)
        ((with-current-buffer (window-buffer (selected-window))
           (and (pillion-file (current-buffer))
                ;; Lines that are selected in Evil are not a region.
                (or mark-active (eq (bound-and-true-p evil-state) 'visual))))
         nil)
        (t (not (pillion-typing-p)))))

(defun pillion-offer--after-next-p (diff)
  "Return non-nil if another proposal than DIFF comes next, and is not shown yet."
  (let ((next (pillion-diff--get pillion-diff--next)))
    (and next (not (eq next diff)) (not (pillion-diff-config next)))))

(defun pillion-offer--select-frame ()
  "Select a frame that is drawn.
When a client of a daemon is gone, Emacs selects one that nobody sees,
and draws no other."
  (unless (pillion-frame-drawn-p (selected-frame))
    (let ((drawn (seq-find #'pillion-frame-drawn-p (frame-list))))
      (when drawn
        (select-frame drawn)))))

(defun pillion-offer (diff)
  "Show DIFF, as soon as that does not disturb the person."
  (setf (pillion-diff-is-announced diff) nil)
  (run-at-time pillion-typing-delay nil #'pillion-offer--announce diff)
  (pillion-wait
   (lambda ()
     (pillion-offer--select-frame)
     (let ((free (pillion-offer--free-p diff)))
       (if (eq free 'never) free (and free (pillion-view-show diff nil)))))
   (lambda ()
     ;; They were told that it waits; and what they look at now has come by itself.
     (when (pillion-diff-is-announced diff)
       (pillion-say "%s %s %s: C-c C-c accepts, C-c C-k rejects"
                    (pillion-diff-agent diff) (pillion-diff-does diff) (pillion-proposal-name diff))))))

(defun pillion-offer--announce (diff)
  "Announce DIFF, if it still waits, to a person who is looking elsewhere."
  (when (and (pillion-diff--pending-p diff) (not (pillion-diff-config diff)))
    (setf (pillion-diff-is-announced diff) t)
    (pillion-say "%s %s %s. M-x pillion-diffs shows it"
                 (pillion-diff-agent diff) (pillion-diff-does diff) (pillion-proposal-name diff))))

(defun pillion-offer-waiting ()
  "Return the number of proposals that are out of sight."
  (seq-count (lambda (it) (not (pillion-view-shown-p it))) pillion-diff--pending))

(defun pillion-offer-mode-line ()
  "Return the text of the mode line for proposals that are out of sight."
  (let ((count (pillion-offer-waiting)))
    (if (zerop count)
        ""
      ;; 80 columns may cut off the end.
      (propertize (format " [M-x pillion-diffs: %d diff%s]" count (if (= count 1) "" "s"))
                  'face 'warning))))

(provide 'pillion-offer)
;;; pillion-offer.el ends here
