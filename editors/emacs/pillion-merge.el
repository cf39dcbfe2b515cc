;;; pillion-merge.el --- A proposal with what was not saved  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; An agent proposes a change of the file on disk.  What the person has in the
;; buffer of that file, and has not saved, is not in it, nor what has changed on
;; disk since: the program merges both, and the proposal becomes that.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-proposal)
(require 'pillion-seen)
(require 'pillion-text)
(require 'pillion-view)

(defun pillion-merge--diff ()
  "The proposal in focus, if it can be changed."
  (let ((diff (pillion-view-focused)))
    (cond ((not (pillion-diff--pending-p diff))
           (user-error "Pillion: no proposal has the focus: M-x pillion-diffs goes to one"))
          ((pillion-diff-is-deciding diff)
           (user-error "Pillion: this diff is being decided")))
    diff))

(defun pillion-merge--show (diff merged is-mine)
  "Put MERGED, the answer of the program, into the view of DIFF.
IS-MINE: it was merged with the person's buffer, not with the file."
  (let ((pillion-seen-is-from-others t))
    (pillion-text-replace (pillion-diff-buffer diff) (plist-get merged :content)))
  (with-current-buffer (pillion-diff-buffer diff)
    (set-buffer-modified-p t))
  (let ((conflicts (or (plist-get merged :conflicts) 0))
        (lines (if is-mine "your lines" "the lines on disk")))
    (pillion-say "merged with %s%s; undo takes it back"
                 (if is-mine "your unsaved changes" "what has changed on disk")
                 (cond ((= conflicts 0) "")
                       ((= conflicts 1)
                        (format ", but 1 place that both changed has %s alone" lines))
                       (t (format ", but %d places that both changed have %s alone"
                                  conflicts lines))))))

;;;###autoload
(defun pillion-merge ()
  "Merge the proposal with what you have not saved in the buffer of its file.
If that has no unsaved changes, merge with what has changed on disk.
Where both changed the same lines, yours or those on disk stay.  Once you
accept that as it is and the agent has written it, the buffer is read again."
  (interactive)
  (let* ((diff (pillion-merge--diff))
         (open (pillion-proposal-unsaved diff))
         (unsaved (and open (pillion-text-of-buffer open)))
         (text (pillion-text-of-buffer (pillion-diff-buffer diff)))
         (revision (pillion-diff-revision diff))
         (merged (pillion-client-ask-now
                  :pillion/merge
                  `( :id ,(pillion-diff-id diff) :revision ,revision
                     :original ,(pillion-diff-original diff)
                     :proposed ,(pillion-valid text)
                     ,@(and unsaved (list :content (pillion-valid unsaved)))))))
    ;; While it waited, a newer proposal may have come, or this one gone.
    (unless (and (pillion-diff--pending-p diff) (eql revision (pillion-diff-revision diff)))
      (user-error "Pillion: the proposal has changed meanwhile"))
    (pillion-merge--show diff merged (and unsaved t))
    (when unsaved
      (setf (pillion-diff-merged diff)
            (cons unsaved (pillion-text-of-buffer (pillion-diff-buffer diff)))))))

(provide 'pillion-merge)
;;; pillion-merge.el ends here
