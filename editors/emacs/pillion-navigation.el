;;; pillion-navigation.el --- From hunk to hunk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What is done at the cursor in a proposal: going to what differs, and putting
;; the original back there.

;;; Code:

(require 'pillion-core)
(require 'pillion-view)

(defun pillion-navigation--diff ()
  "The proposal in whose buffer the person is."
  (let ((diff pillion-diff--mine))
    (unless (and diff (eq (current-buffer) (pillion-diff-buffer diff)))
      (user-error "Pillion: the cursor is not in a proposal: M-x pillion-diffs goes to one"))
    (pillion-proposal-compare diff)
    diff))

(defun pillion-navigation--go-to-line (line)
  "Go to LINE, counted from 0."
  (push-mark nil t)
  (goto-char (pillion-proposal-line-position (current-buffer) line)))

(defun pillion-next-hunk ()
  "Go to the next hunk."
  (interactive)
  (let* ((diff (pillion-navigation--diff))
         (line (1- (line-number-at-pos nil t)))
         (next (seq-find (lambda (it) (> (nth 2 it) line)) (pillion-diff-hunks diff))))
    (if next
        (pillion-navigation--go-to-line (nth 2 next))
      (user-error "Pillion: no further hunk"))))

(defun pillion-previous-hunk ()
  "Go to the previous hunk."
  (interactive)
  (let* ((diff (pillion-navigation--diff))
         (line (1- (line-number-at-pos nil t)))
         (last (car (last (seq-filter (lambda (it) (< (nth 2 it) line))
                                      (pillion-diff-hunks diff))))))
    (if last
        (pillion-navigation--go-to-line (nth 2 last))
      (user-error "Pillion: no earlier hunk"))))

(defun pillion-drop-hunk ()
  "Restore the original of the hunk at point.  It can be undone."
  (interactive)
  (let* ((diff (pillion-navigation--diff))
         (line (1- (line-number-at-pos nil t)))
         (hunk (seq-find (lambda (it)
                           (<= (nth 2 it) line (max (nth 2 it) (+ (nth 2 it) (nth 3 it) -1))))
                         (pillion-diff-hunks diff))))
    (unless hunk
      (user-error "Pillion: there is no hunk at point"))
    (pcase-let* ((`(,old ,old-count ,new ,new-count) hunk)
                 (original (pillion-diff-original-buffer diff))
                 (text (if (buffer-live-p original)
                           (pcase-let ((`((,from . ,to))
                                        (pillion-proposal-places original `((,old ,old-count)))))
                             (with-current-buffer original
                               (save-restriction
                                 (widen)
                                 (buffer-substring-no-properties from to))))
                         ""))
                 (`((,start . ,end))
                  (pillion-proposal-places (current-buffer) `((,new ,new-count))))
                 (is-last (= end (point-max))))
      ;; A last line without an end takes the line break before it along.
      (when (and is-last (> new-count 0) (= old-count 0) (> start (point-min))
                 (not (eq (char-before end) ?\n)))
        (setq start (1- start)))
      (when (and is-last (= new-count 0) (not (equal text ""))
                 (> start (point-min)) (not (eq (char-before start) ?\n)))
        (setq text (concat "\n" text)))
      (save-excursion
        (goto-char start)
        (delete-region start end)
        (insert text)))))

(provide 'pillion-navigation)
;;; pillion-navigation.el ends here
