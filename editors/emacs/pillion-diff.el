;;; pillion-diff.el --- Proposals that wait for a decision  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Opened and closed for agents, decided by the person.  What nobody may fear is
;; that something is accepted which they never saw: a decision names the revision
;; that was on the screen when they began to type it, and nothing but a command
;; that they gave accepts.

;;; Code:

(require 'pillion-astray)
(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-navigation)
(require 'pillion-offer)
(require 'pillion-reload)
(require 'pillion-text)
(require 'pillion-view)
(require 'pillion-wait)

(defconst pillion-diff--review-delay 1.0
  "A decision that comes sooner is about what was there before.
So is one that comes as soon after a refused one, as from a key that is
held down.  Seconds.")

(defvar pillion-diff-opened-functions nil
  "Called with each diff that is pending from now on.
See `pillion-diff-path' and `pillion-diff-agent'.")

(defvar pillion-diff-closed-functions nil
  "Called with each diff that is gone, and its outcome.
That is `accepted', `rejected' or `closed'.")

(defun pillion-diff--edited-p (diff)
  "Whether the person edited the proposal of DIFF."
  (and (buffer-live-p (pillion-diff-buffer diff))
       (not (equal (pillion-text-of-buffer (pillion-diff-buffer diff))
                   (pillion-diff-proposed diff)))))

;;; What was seen

(defun pillion-diff--note-drawn (window)
  "WINDOW is about to be drawn: the proposal in it counts from here on."
  (let ((diff (buffer-local-value 'pillion-diff--mine (window-buffer window))))
    (when (and (pillion-diff--pending-p diff)
               (eq (window-buffer window) (pillion-diff-buffer diff))
               (/= (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
               (pillion-frame-drawn-p (window-frame window)))
      (setf (pillion-diff-seen-revision diff) (pillion-diff-revision diff)
            (pillion-diff-seen-since diff) (float-time)
            (pillion-diff-begun-before diff) (pillion-mid-input-p))
      (when (pillion-diff-came-at diff)
        (setf (pillion-diff-came-at diff) (float-time))))))
(put 'pillion-diff--note-drawn 'permanent-local-hook t)

(defun pillion-diff--note-focus (window)
  "WINDOW was selected, or no longer is: earlier keys were meant for another."
  (let ((diff (buffer-local-value 'pillion-diff--mine (window-buffer window))))
    (when (and diff (eq window (selected-window))
               ;; That one may be gone.
               (not (and (window-live-p (old-selected-window))
                         (window-minibuffer-p (old-selected-window)))))
      (setf (pillion-diff-seen-since diff) (float-time)))))
(put 'pillion-diff--note-focus 'permanent-local-hook t)

(defun pillion-diff--pre-command ()
  "A command begins that the person invoked."
  (setq pillion--in-command t)
  (pillion-astray-check))

(defun pillion-diff--post-command ()
  "A command has ended; from now on, keys refer to what is on the screen."
  (when (zerop (minibuffer-depth))
    (setq pillion--in-command nil)
    (dolist (diff pillion-diff--pending)
      (setf (pillion-diff-begun-before diff) nil)
      (pillion-diff--note-hidden diff))))

(defun pillion-diff--note-hidden (diff)
  "Say once where DIFF is if the person closed its window."
  (let ((is-hidden (and (pillion-diff-config diff)
                        (not (get-buffer-window (pillion-diff-buffer diff) t)))))
    (when (and is-hidden (not (pillion-diff-is-hidden diff)))
      (pillion-say "%s is still pending: M-x pillion-diffs goes to it" (pillion-proposal-name diff)))
    (setf (pillion-diff-is-hidden diff) is-hidden)))

(defun pillion-diff--note-all-hidden (&rest _)
  "Say so if something other than a command has covered a proposal."
  ;; A view is being made, or is going.
  (unless pillion--in-command
    (mapc #'pillion-diff--note-hidden pillion-diff--pending)))

(defun pillion-diff--problem (diff)
  "Why a decision about DIFF does not count now, or nil."
  (cond
   ((/= (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
    (if (> (pillion-diff-revision diff) 1) "a newer proposal just opened" "not seen yet"))
   ((pillion-diff-begun-before diff) "a newer proposal opened meanwhile")
   ((< (- (float-time) (max (pillion-diff-seen-since diff) (pillion-diff-refused-at diff)))
       pillion-diff--review-delay)
    (if (> (pillion-diff-revision diff) 1) "a newer proposal just opened" "just opened"))))

(defun pillion-diff-ready-p ()
  "Whether the proposal in focus, or the only one, would be accepted now."
  (let ((diff (or (pillion-view-focused)
                  (and (null (cdr pillion-diff--pending)) (car pillion-diff--pending)))))
    (and (pillion-diff--pending-p diff)
         (not (pillion-astray-p diff))
         (not (pillion-diff--problem diff)))))

;;; How a settled diff goes

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
  "Whether the person is in the middle of something that DIFF must not end."
  (or (pillion-mid-input-p)
      (and (eq diff (pillion-view-focused)) (pillion-typing-p))))

(defun pillion-diff--take-away (diff outcome)
  "Close the view of DIFF, which has this OUTCOME."
  (when (memq diff pillion-diff--leaving)
    (setq pillion-diff--leaving (delq diff pillion-diff--leaving))
    (condition-case error
        (pillion-view-remove diff)
      (error (pillion-say "cannot close the view of %s: %s" (pillion-diff-path diff)
                          (error-message-string error))))
    (pillion-wait-look-soon)
    (force-mode-line-update t)
    (run-hook-with-args 'pillion-diff-closed-functions diff outcome)))

(defun pillion-diff--settle (diff outcome &optional when)
  "DIFF is no longer pending, by OUTCOME.
Its view is taken away at once if WHEN is `now', in a moment if it is
`soon', else when the person is not in the middle of something."
  (setq pillion-diff--pending (delq diff pillion-diff--pending))
  (push diff pillion-diff--leaving)
  (when (and (null pillion-diff--pending))
    (pillion-diff--detach))
  (pcase when
    ('now (pillion-diff--take-away diff outcome))
    ('soon (run-at-time 0 nil #'pillion-diff--take-away diff outcome))
    (_ (pillion-wait (lambda ()
                       (cond ((not (memq diff pillion-diff--leaving)) 'never)
                             (t (not (pillion-diff--mid-typing-p diff)))))
                     (lambda () (pillion-diff--take-away diff outcome)))))
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

;;; Decisions

(defun pillion-diff--send (diff outcome &optional content)
  "Tell the agent of DIFF the OUTCOME, and the CONTENT that was accepted."
  (pillion-client-notify :pillion/didResolveDiff
                         `( :id ,(pillion-diff-id diff)
                            :revision ,(pillion-diff-revision diff)
                            :outcome ,outcome
                            ,@(and content (list :content content)))))

(defun pillion-diff--doubt (diff text)
  "What the agent of DIFF would make of TEXT, if the person may not expect it."
  (cond
   ((and (pillion-diff-unchanged-rejects diff)
         (if (pillion-diff-is-new diff)
             (equal text "")
           (and (not (pillion-diff-is-lossy diff))
                (equal (pillion-text-lines text)
                       (pillion-text-lines (pillion-diff-original diff))))))
    (if (pillion-diff-is-new diff)
        "an empty new file counts as rejected: C-c C-k, or C-c C-c again"
      "unchanged, so the agent rejects it: C-c C-k, or C-c C-c again"))
   ((and (pillion-diff-ignores-empty diff) (equal text "")
         (not (equal (pillion-diff-proposed diff) "")))
    "agents ignore an empty text: C-c C-k rejects, C-c C-c again accepts")))

(defun pillion-diff--accept (diff)
  "Accept DIFF as it stands in its view, if the person has seen it."
  (let ((problem (pillion-diff--problem diff))
        (buffer (pillion-diff-buffer diff)))
    (when problem
      (setf (pillion-diff-refused-at diff) (float-time))
      (user-error "Pillion: %s: look first, then C-c C-c again" problem))
    (let ((invalid (pillion-text-invalid-line buffer)))
      (when invalid
        (user-error "Pillion: line %d is not valid UTF-8, so the text cannot be sent" invalid)))
    (let* ((text (pillion-text-of-buffer buffer))
           (doubt (pillion-diff--doubt diff text)))
      (when (and doubt (not (equal doubt (pillion-diff-warning diff))))
        (setf (pillion-diff-warning diff) doubt)
        (user-error "Pillion: %s" doubt))
      (unless (pillion-diff--send diff "accepted" text)
        (user-error "Pillion is not running, so the agent cannot get this: M-x write-file keeps a copy"))
      (pillion-reload-expect (pillion-diff-path diff) text)
      (pillion-diff--settle diff 'accepted 'now))))

(defun pillion-diff--reject (diff &optional when)
  "Reject DIFF, whose view is closed at WHEN.  The person's edits are kept."
  (let ((kept (and (pillion-diff--edited-p diff) (pillion-diff--keep diff))))
    (pillion-diff--send diff "rejected")
    (pillion-diff--settle diff 'rejected when)
    (when kept
      (pillion-say "rejected %s; your edits are in the buffer %s"
                   (pillion-proposal-name diff) kept))))

(defun pillion-diff--choose-of (diffs prompt)
  "One of DIFFS, which the person chooses after PROMPT."
  (let* ((names (mapcar (lambda (it)
                          (cons (format "%d %s: %s" (pillion-diff-id it)
                                        (pillion-plain (pillion-diff-agent it))
                                        (pillion-plain (pillion-diff-path it)))
                                it))
                        diffs))
         (chosen (cdr (assoc (completing-read prompt names nil t) names))))
    (if (pillion-diff--pending-p chosen)
        chosen
      (user-error "Pillion: this diff is settled"))))

(defun pillion-diff--choose (id prompt)
  "The diff with ID, the one in focus, the only one, or one chosen by PROMPT."
  (let ((focused (pillion-view-focused)))
    (cond
     (id (or (pillion-diff--get (prefix-numeric-value id))
             (user-error "Pillion: no diff %s is pending" (prefix-numeric-value id))))
     ((pillion-diff--pending-p focused) focused)
     (focused (user-error "Pillion: this diff is settled"))
     ((null pillion-diff--pending) (user-error "Pillion: no diff is pending"))
     ((null (cdr pillion-diff--pending)) (car pillion-diff--pending))
     (t (pillion-diff--choose-of pillion-diff--pending prompt)))))

;;;###autoload
(defun pillion-accept (&optional id)
  "Accept a proposal as it stands in its view, with your edits.
It is the one in focus, the only one, or one that you choose; with a
prefix argument, the one with this ID.

Only a command that you give accepts.  Keyboard macros, timers and code
do not, nor does what you type before you have seen the proposal for a
second."
  (interactive "P")
  (let ((is-typed (and (called-interactively-p 'interactive) pillion--in-command)))
    (cond
     ((null pillion-diff--pending)
      (user-error "Pillion: no diff is pending"))
     (executing-kbd-macro
      (user-error "Pillion: a keyboard macro cannot accept"))
     ((not is-typed)
      (user-error "Pillion: only a command that you give accepts"))
     (t
      (let ((diff (pillion-diff--choose id "Accept which diff? ")))
        (if (and (= (pillion-diff-seen-revision diff) 0)
                 (not (eq diff (pillion-view-focused)))
                 (not (pillion-view-shown-p diff)))
            (progn
              (pillion-diff--go-to diff)
              (user-error "Pillion: not seen yet: look first, then try again"))
          (pillion-diff--accept diff)))))))

;;;###autoload
(defun pillion-reject (&optional id)
  "Reject a proposal.  What you wrote into it stays in a buffer of its own.
It is the one in focus, the only one, or one that you choose; with a
prefix argument, the one with this ID."
  (interactive "P")
  (pillion-diff--reject (pillion-diff--choose id "Reject which diff? ") 'now))

(defun pillion-diff--go-to (diff)
  "Bring the person to DIFF."
  (let ((window (and (pillion-view-shown-p diff)
                     (get-buffer-window (pillion-diff-buffer diff) 'visible)))
        (here (pillion-view-focused)))
    (if window
        (progn (setf (pillion-diff-seen-since diff) (float-time))
               (select-frame-set-input-focus (window-frame window))
               (select-window window))
      (dolist (other (cons diff pillion-diff--pending))
        (when (and (pillion-diff-config other)
                   (or (eq other diff) (eq other here)
                       (eq (pillion-diff-frame other) (selected-frame))))
          (pillion-view-hide other)))
      (unless (pillion-view-show diff t)
        (user-error "Pillion: the diff cannot be shown in this frame")))))

;;;###autoload
(defun pillion-diffs (&optional id)
  "Go to the proposal that waits for a decision, or to one that you choose.
With a prefix argument, it is the one with this ID."
  (interactive "P")
  (let* ((focused (pillion-view-focused))
         ;; Its original alone is not the proposal.
         (here (and focused (pillion-view-shown-p focused) focused))
         (others (remq here pillion-diff--pending)))
    (cond ((and here (not id) (null others))
           (pillion-say "this is the only pending diff"))
          ((and here (not id) (null (cdr others)))
           (pillion-diff--go-to (car others)))
          ((and here (not id))
           (pillion-diff--go-to (pillion-diff--choose-of others "Go to which diff? ")))
          (t
           (pillion-diff--go-to (pillion-diff--choose id "Go to which diff? "))))))

;;; What must not accept

(defun pillion-explain-keys ()
  "Say what decides about a proposal: saving does not."
  (interactive)
  (pillion-say "saving accepts nothing: C-c C-c accepts, C-c C-k rejects"))

(defvar-local pillion-diff--write-explained nil)

(defun pillion-diff--on-write ()
  "Write nothing: saving decides nothing."
  (unless (and pillion-diff--write-explained (not pillion--in-command))
    (setq pillion-diff--write-explained t)
    (pillion-explain-keys))
  t)
(put 'pillion-diff--on-write 'permanent-local-hook t)

(defun pillion-diff--on-kill ()
  "The buffer of a proposal is killed: that rejects."
  (let ((diff pillion-diff--mine))
    (when (and (pillion-diff--pending-p diff)
               (eq (current-buffer) (pillion-diff-buffer diff)))
      (pillion-diff--reject diff 'soon))))
(put 'pillion-diff--on-kill 'permanent-local-hook t)

(defun pillion-diff--confirm-exit ()
  "Ask before Emacs ends while proposals wait."
  (or (null pillion-diff--pending)
      noninteractive
      (y-or-n-p (format "%d %s for a decision; reject and exit? "
                        (length pillion-diff--pending)
                        (if (cdr pillion-diff--pending) "proposals wait" "proposal waits")))))

(defun pillion-diff--on-frame-gone (frame)
  "FRAME was deleted: what it showed is offered to the others."
  (dolist (diff pillion-diff--pending)
    (when (and (pillion-diff-config diff) (eq frame (pillion-diff-frame diff)))
      (setf (pillion-diff-config diff) nil
            (pillion-diff-windows diff) nil
            (pillion-diff-arrangement diff) nil
            (pillion-diff-seen-revision diff) 0)
      (pillion-offer diff))))

(defun pillion-diff--attach ()
  "Begin to watch what the person does."
  ;; Before those that already do something for the command.
  (add-hook 'pre-command-hook #'pillion-diff--pre-command -90)
  (add-hook 'post-command-hook #'pillion-diff--post-command)
  (add-hook 'window-buffer-change-functions #'pillion-diff--note-all-hidden)
  (add-hook 'after-delete-frame-functions #'pillion-diff--on-frame-gone)
  (add-hook 'kill-emacs-query-functions #'pillion-diff--confirm-exit))

(defun pillion-diff--detach ()
  "Nothing is pending any longer."
  (setq pillion--in-command nil)
  (remove-hook 'pre-command-hook #'pillion-diff--pre-command)
  (remove-hook 'post-command-hook #'pillion-diff--post-command)
  (remove-hook 'window-buffer-change-functions #'pillion-diff--note-all-hidden)
  (remove-hook 'after-delete-frame-functions #'pillion-diff--on-frame-gone)
  (remove-hook 'kill-emacs-query-functions #'pillion-diff--confirm-exit))

;;; Opened and closed for agents

(defun pillion-diff--read (diff params)
  "Put PARAMS of `pillion/openDiff' into DIFF."
  (let* ((agent (plist-get params :agent))
         (original (plist-get params :original))
         (flag (lambda (key) (eq t (plist-get params key)))))
    (setf (pillion-diff-revision diff) (or (plist-get params :revision) 1)
          (pillion-diff-path diff) (plist-get params :path)
          (pillion-diff-agent diff) (or (plist-get agent :displayName) "?")
          (pillion-diff-notes diff) (append (plist-get params :notes) nil)
          (pillion-diff-is-new diff) (not (stringp original))
          (pillion-diff-original diff) (if (stringp original) original "")
          (pillion-diff-proposed diff) (plist-get params :proposed)
          (pillion-diff-is-lossy diff) (funcall flag :originalIsLossy)
          ;; An older program does not say.
          (pillion-diff-ignores-empty diff)
          (if (plist-member params :ignoresEmptyText)
              (funcall flag :ignoresEmptyText)
            (not (equal (plist-get agent :name) "script")))
          (pillion-diff-unchanged-rejects diff) (funcall flag :unchangedIsRejection)
          (pillion-diff-warning diff) nil
          (pillion-diff-refused-at diff) 0.0)))

(defun pillion-diff--say-notes (diff)
  "Show the notes of DIFF, for which a narrow window has no room."
  (when (pillion-diff-notes diff)
    (pillion-say "%s" (string-join (pillion-diff-notes diff) " "))))

(defun pillion-diff--replace (diff params)
  "Show the newer proposal in PARAMS in the view of DIFF."
  (let ((was-edited (pillion-diff--edited-p diff)))
    (pillion-diff--read diff params)
    (let ((original (pillion-diff-original-buffer diff)))
      (when (buffer-live-p original)
        (pillion-text-fill original (pillion-diff-original diff))
        (with-current-buffer original
          (setq buffer-undo-list t))))
    (pillion-text-replace (pillion-diff-buffer diff) (pillion-diff-proposed diff))
    (run-at-time 0 nil #'pillion-proposal-compare diff)
    (when (or was-edited (eq diff (pillion-view-focused)))
      (pillion-say "%s revised %s%s" (pillion-diff-agent diff) (pillion-proposal-name diff)
                   (if was-edited "; undo restores your edits" "")))
    (pillion-diff--say-notes diff)))

(defun pillion-diff--open (params)
  "Show a proposed change, `pillion/openDiff' with PARAMS."
  (unless (and (integerp (plist-get params :id)) (stringp (plist-get params :path))
               (stringp (plist-get params :proposed)))
    (error "This is not a proposal"))
  (pillion-diff--make-room (plist-get params :id))
  (let ((shown (pillion-diff--get (plist-get params :id))))
    (if shown
        (pillion-diff--replace shown params)
      (let ((diff (pillion-diff--make :id (plist-get params :id))))
        (pillion-diff--read diff params)
        (pillion-proposal-make-buffers diff)
        (with-current-buffer (pillion-diff-buffer diff)
          (add-hook 'pre-redisplay-functions #'pillion-diff--note-drawn nil t)
          (add-hook 'window-selection-change-functions #'pillion-diff--note-focus nil t)
          (when (buffer-live-p (pillion-diff-original-buffer diff))
            (with-current-buffer (pillion-diff-original-buffer diff)
              (add-hook 'window-selection-change-functions #'pillion-diff--note-focus nil t)))
          (add-hook 'write-contents-functions #'pillion-diff--on-write nil t)
          (add-hook 'kill-buffer-hook #'pillion-diff--on-kill nil t))
        (unless pillion-diff--pending
          (pillion-diff--attach))
        (setq pillion-diff--pending (append pillion-diff--pending (list diff)))
        (pillion-diff--say-notes diff)
        (run-at-time 0 nil #'pillion-offer diff)
        (run-hook-with-args 'pillion-diff-opened-functions diff))))
  '(:shown t))

(defun pillion-diff--close (params)
  "Close a view for the agent, `pillion/closeDiff' with PARAMS."
  (let ((diff (pillion-diff--get (plist-get params :id))))
    (unless (and diff (buffer-live-p (pillion-diff-buffer diff)))
      (error "Diff %s has no view" (plist-get params :id)))
    (let ((text (pillion-text-of-buffer (pillion-diff-buffer diff)))
          (invalid (pillion-text-invalid-line (pillion-diff-buffer diff))))
      (pillion-diff--abandon diff (equal (plist-get params :reason) "agentGone"))
      (when invalid
        (error "The text in the view is not valid UTF-8"))
      (list :content text))))

(defun pillion-diff--text (params)
  "Tell what stands in a view, `pillion/diffText' with PARAMS."
  (let ((diff (pillion-diff--get (plist-get params :id))))
    (unless (and diff (buffer-live-p (pillion-diff-buffer diff))
                 (equal (pillion-diff-revision diff) (plist-get params :revision)))
      (error "Diff %s has no view" (plist-get params :id)))
    (when (pillion-text-invalid-line (pillion-diff-buffer diff))
      (error "The text in the view is not valid UTF-8"))
    (list :content (pillion-text-of-buffer (pillion-diff-buffer diff)))))

(defun pillion-diff--abandon (diff is-orphan)
  "Close DIFF on behalf of the other side; if IS-ORPHAN, edits are kept."
  (let ((kept (and is-orphan (pillion-diff--edited-p diff) (pillion-diff--keep diff))))
    (pillion-diff--settle diff 'closed)
    (when kept
      (pillion-say "your edits of %s are in the buffer %s" (pillion-proposal-name diff) kept))))

(defun pillion-diff--close-all ()
  "Close all views: the program exited, so no agent waits for an answer."
  (dolist (diff (copy-sequence pillion-diff--pending))
    (pillion-diff--abandon diff t)))

(setf (alist-get 'pillion/openDiff pillion-client-handlers) #'pillion-diff--open)
(setf (alist-get 'pillion/closeDiff pillion-client-handlers) #'pillion-diff--close)
(setf (alist-get 'pillion/diffText pillion-client-handlers) #'pillion-diff--text)
(add-hook 'pillion-stopped-hook #'pillion-diff--close-all)

(provide 'pillion-diff)
;;; pillion-diff.el ends here
