;;; pillion-merge.el --- A proposal with what was not saved  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; An agent proposes a change of the file on disk.  What the person has in the
;; buffer of that file, and has not saved, is not in it: the program merges both,
;; and the proposal becomes that.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-proposal)
(require 'pillion-seen)
(require 'pillion-text)
(require 'pillion-view)

(defun pillion-merge--diff ()
  "The proposal in focus, if its file has something that is not saved."
  (let ((diff (pillion-view-focused)))
    (cond ((not (pillion-diff--pending-p diff))
           (user-error "Pillion: no proposal has the focus: M-x pillion-diffs goes to one"))
          ((pillion-diff-is-deciding diff)
           (user-error "Pillion: this diff is being decided"))
          ((not (pillion-proposal-unsaved diff))
           (user-error "Pillion: the buffer of this file has no unsaved changes")))
    diff))

(defun pillion-merge--show (diff merged)
  "Put MERGED, the answer of the program, into the view of DIFF."
  (let ((pillion-seen-is-from-others t))
    (pillion-text-replace (pillion-diff-buffer diff) (plist-get merged :content)))
  (with-current-buffer (pillion-diff-buffer diff)
    (set-buffer-modified-p t))
  (let ((conflicts (or (plist-get merged :conflicts) 0)))
    (pillion-say "merged with your unsaved changes%s; undo takes it back"
                 (cond ((= conflicts 0) "")
                       ((= conflicts 1) ", but 1 place that both changed has your lines alone")
                       (t (format ", but %d places that both changed have your lines alone"
                                  conflicts))))))

;;;###autoload
(defun pillion-merge ()
  "Merge the proposal with what you have not saved in the buffer of its file.
Where both changed the same lines, yours stay.  Once you accept that as
it is and the agent has written it, the buffer is read again."
  (interactive)
  (let* ((diff (pillion-merge--diff))
         (unsaved (pillion-text-of-buffer (pillion-proposal-unsaved diff)))
         (text (pillion-text-of-buffer (pillion-diff-buffer diff)))
         (revision (pillion-diff-revision diff))
         (merged (pillion-client-ask-now :pillion/merge
                                         (list :original (pillion-diff-original diff)
                                               :proposed (pillion-valid text)
                                               :content (pillion-valid unsaved)))))
    ;; While it waited, a newer proposal may have come, or this one gone.
    (unless (and (pillion-diff--pending-p diff) (eql revision (pillion-diff-revision diff)))
      (user-error "Pillion: the proposal has changed meanwhile"))
    (pillion-merge--show diff merged)
    (setf (pillion-diff-merged diff)
          (cons unsaved (pillion-text-of-buffer (pillion-diff-buffer diff))))))

(provide 'pillion-merge)
;;; pillion-merge.el ends here
