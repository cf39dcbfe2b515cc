;;; pillion-leave.el --- Proposals that are settled, and go  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A view goes when its proposal is decided, or closed for its agent; not under
;; the keys of who is in it.  Where nobody has decided, it stays until they leave
;; it.  What they wrote into it is kept.

;;; Code:

(require 'pillion-astray)
(require 'pillion-core)
(require 'pillion-notes)
(require 'pillion-proposal)
(require 'pillion-text)
(require 'pillion-view)
(require 'pillion-wait)

(declare-function pillion-diff--detach "pillion-diff" ())

(defvar pillion-diff-closed-functions nil
  "Called with each diff that is gone, and its outcome.
That is `accepted', `rejected' or `closed'.")

(defun pillion-diff--edited-p (diff)
  "Return non-nil if the person edited the proposal of DIFF."
  (and (buffer-live-p (pillion-diff-buffer diff))
       (not (equal (pillion-text-of-buffer (pillion-diff-buffer diff))
                   (pillion-diff-proposed diff)))))

(defun pillion-diff--keep (diff)
  "Keep what the person wrote into DIFF, in a buffer of its own; its name."
  (let ((text (pillion-text-of-buffer (pillion-diff-buffer diff)))
        (buffer (generate-new-buffer
                 (format "*Kept: %s*" (pillion-plain
                                       (file-name-nondirectory (pillion-diff-path diff)))))))
    (pillion-text-fill buffer text)
    (with-current-buffer buffer
      (setq buffer-offer-save t)
      (set-buffer-modified-p t)
      (setq buffer-undo-list nil))
    (buffer-name buffer)))

(defun pillion-diff--mid-typing-p (diff)
  "Return non-nil if the person does something that DIFF must not end.
Who is in one about which nobody has decided does until they leave it."
  (or (pillion-mid-input-p)
      (and (eq diff (pillion-view-focused))
           (or (pillion-diff-is-held diff) (pillion-typing-p)))))

(defun pillion-diff--keep-rest (diff)
  "Keep what nobody else has of DIFF, which was closed for the agent."
  (let ((given (pillion-diff-given diff)) (buffer (pillion-diff-buffer diff)))
    (when (and given (buffer-live-p buffer)
               (not (equal given (pillion-text-of-buffer buffer))))
      (pillion-say-all "%s: your edits of %s are in the buffer %s" (pillion-diff-over diff)
                       (pillion-proposal-name diff) (pillion-diff--keep diff)))))

(defun pillion-diff--take-away (diff outcome)
  "Close the view of DIFF, which has this OUTCOME."
  (when (memq diff pillion-diff--leaving)
    (setq pillion-diff--leaving (delq diff pillion-diff--leaving))
    (when (eq diff (pillion-view-focused))
      (pillion-astray-left diff))
    (pillion-diff--keep-rest diff)
    (condition-case error
        (pillion-view-remove diff)
      (error (pillion-say "cannot close the view of %s: %s" (pillion-diff-path diff)
                          (error-message-string error))))
    (pillion-wait-look-soon)
    (force-mode-line-update t)
    (run-hook-with-args 'pillion-diff-closed-functions diff outcome)))

(defun pillion-diff--settle (diff outcome &optional when)
  "DIFF is no longer pending, by OUTCOME.
Its view is taken away in a moment if WHEN is `soon', as soon as no key
sequence or prompt is begun if it is `decided', else when the person is
not in the middle of something."
  (setq pillion-diff--pending (delq diff pillion-diff--pending))
  (push diff pillion-diff--leaving)
  (when (and (null pillion-diff--pending))
    (pillion-diff--detach))
  (if (eq when 'soon)
      (run-at-time 0 nil #'pillion-diff--take-away diff outcome)
    (pillion-wait (lambda ()
                    (cond ((not (memq diff pillion-diff--leaving)) 'never)
                          ((eq when 'decided) (not (pillion-mid-input-p)))
                          (t (not (pillion-diff--mid-typing-p diff)))))
                  (lambda () (pillion-diff--take-away diff outcome))))
  (when (and pillion-diff--pending (not (eq outcome 'closed)))
    (pillion-say "%d more %s pending: M-x pillion-diffs" (length pillion-diff--pending)
                 (if (cdr pillion-diff--pending) "diffs are" "diff is"))))

(defun pillion-diff--make-room (id)
  "Close at once what is left of the views of settled diffs.
The one with ID is, in any case."
  (dolist (diff (copy-sequence pillion-diff--leaving))
    (when (or (equal (pillion-diff-id diff) id)
              (not (pillion-diff--mid-typing-p diff)))
      (pillion-diff--take-away diff 'closed))))

(defun pillion-diff--abandon (diff is-orphan &optional why)
  "Close DIFF on behalf of the other side; if IS-ORPHAN, edits are kept.
WHY is a sentence if nobody has decided: who is in the view stays there."
  (pillion-notes-keep diff)
  (setf (pillion-diff-over diff) (or why "settled elsewhere")
        (pillion-diff-is-held diff) (and why t)
        (pillion-diff-given diff) (if is-orphan
                                      (pillion-diff-proposed diff)
                                    (pillion-text-of-buffer (pillion-diff-buffer diff))))
  (when why
    (pillion-say-all "%s" why))
  (pillion-diff--settle diff 'closed)
  (pillion-wait (lambda ()
                  (if (and (memq diff pillion-diff--leaving)
                           (buffer-live-p (pillion-diff-buffer diff)))
                      (not (pillion-typing-p))
                    'never))
                (lambda ()
                  (with-current-buffer (pillion-diff-buffer diff)
                    (setq buffer-read-only t)
                    (force-mode-line-update)))))

(provide 'pillion-leave)
;;; pillion-leave.el ends here
