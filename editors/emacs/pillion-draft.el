;;; pillion-draft.el --- What was made of a proposal, kept  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What the person made of a proposal, in case Emacs, the hub or the agent ends
;; before they decide: Pillion hears of it a moment after each change, and when
;; the file is proposed again, undo brings it back.  It decides nothing.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-proposal)
(require 'pillion-seen)
(require 'pillion-text)

(defconst pillion-draft--pause 0.3
  "For how many seconds nothing changes before Pillion hears of it.")

(defvar-local pillion-draft--timer nil
  "What will tell Pillion of the text of this buffer.")
(put 'pillion-draft--timer 'permanent-local t)

(defvar-local pillion-draft--told nil
  "The revision and the text that Pillion heard of last.")
(put 'pillion-draft--told 'permanent-local t)

(defvar-local pillion-draft--offered nil
  "The texts that undo brings back, the newest first.")
(put 'pillion-draft--offered 'permanent-local t)

(defun pillion-draft--tell (diff)
  "Tell Pillion what stands in the view of DIFF, if that is news."
  (let ((buffer (pillion-diff-buffer diff)))
    (when (and (pillion-diff--pending-p diff) (buffer-live-p buffer)
               (not (pillion-text-invalid-line buffer)))
      (let* ((text (pillion-text-of-buffer buffer))
             (content (and (not (equal text (pillion-diff-proposed diff))) text))
             (told (list (pillion-diff-revision diff) content)))
        (with-current-buffer buffer
          (unless (equal told (or pillion-draft--told (list (pillion-diff-revision diff) nil)))
            (setq pillion-draft--told told)
            (pillion-client-notify
             :pillion/didChangeDiff
             (append (list :id (pillion-diff-id diff) :revision (pillion-diff-revision diff))
                     (and content (list :content content))))))))))

(defun pillion-draft--changed (&rest _)
  "The text of a proposal has changed."
  (when pillion-diff--mine
    (when (timerp pillion-draft--timer)
      (cancel-timer pillion-draft--timer))
    (setq pillion-draft--timer
          (run-at-time pillion-draft--pause nil #'pillion-draft--tell pillion-diff--mine))))

(defun pillion-draft-follow (diff)
  "Follow what becomes of the text of DIFF."
  (with-current-buffer (pillion-diff-buffer diff)
    (add-hook 'after-change-functions #'pillion-draft--changed nil t)))

(defun pillion-draft--offer (params)
  "Put a text within reach of undo: `pillion/offerText' with PARAMS."
  (let* ((diff (pillion-diff--get (plist-get params :id)))
         (content (plist-get params :content))
         (buffer (and diff (pillion-diff-buffer diff))))
    (when (and (buffer-live-p buffer) (stringp content)
               (equal (pillion-diff-revision diff) (plist-get params :revision))
               (not (pillion-diff-kept diff))
               ;; Neither has the person changed it, nor is it the same.
               (equal (pillion-text-of-buffer buffer) (pillion-diff-proposed diff))
               (not (member content (cons (pillion-diff-proposed diff)
                                          (buffer-local-value 'pillion-draft--offered buffer)))))
      (with-current-buffer buffer
        (push content pillion-draft--offered))
      (pillion-seen-forget diff)
      (pillion-text-replace buffer content)
      (pillion-text-replace buffer (pillion-diff-proposed diff))
      (pillion-proposal-unchanged diff)
      (pillion-seen-begin diff)
      (pillion-say-all "what you had changed in %s was kept; undo brings it back"
                       (pillion-proposal-name diff)))))

(setf (alist-get 'pillion/offerText pillion-client-handlers) #'pillion-draft--offer)

(provide 'pillion-draft)
;;; pillion-draft.el ends here
