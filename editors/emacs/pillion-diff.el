;;; pillion-diff.el --- Proposals that wait for a decision  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Opened and closed for agents, decided by the person.  What nobody may fear is
;; that something is accepted which they never saw: a decision says what they saw,
;; the program rules whether it counts, and until then the view stays.

;;; Code:

(require 'pillion-astray)
(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-draft)
(require 'pillion-merge)
(require 'pillion-navigation)
(require 'pillion-offer)
(require 'pillion-reload)
(require 'pillion-leave)
(require 'pillion-notes)
(require 'pillion-others)
(require 'pillion-seen)
(require 'pillion-text)
(require 'pillion-view)

(defconst pillion-diff--ruling-timeout 2
  "The seconds that Emacs waits before it ends while something is decided.")

(defvar pillion-diff-opened-functions nil
  "Called with each diff that is pending from now on.
See `pillion-diff-path' and `pillion-diff-agent'.")


;;; What the person does

(defun pillion-diff--pre-command ()
  "A command begins that the person invoked."
  (setq pillion--in-command t)
  (pillion-seen-before-command)
  (pillion-astray-check))

(defun pillion-diff--post-command ()
  "A command has ended."
  (when (zerop (minibuffer-depth))
    (setq pillion--in-command nil)
    (pillion-seen-after-command)
    (mapc #'pillion-diff--note-hidden pillion-diff--pending)))

(defun pillion-diff--note-hidden (diff)
  "Say once where DIFF is if the person closed its window, or left its frame."
  (let ((is-hidden (and (pillion-diff-config diff) (not (pillion-view-shown-p diff)))))
    (unless (eq is-hidden (pillion-diff-is-hidden diff))
      (setf (pillion-diff-is-hidden diff) is-hidden)
      (when is-hidden
        (pillion-say "%s is still pending: M-x pillion-diffs goes to it"
                     (pillion-proposal-name diff)))
      ;; In other frames, too.
      (force-mode-line-update t))))

(defun pillion-diff--note-all-hidden (&rest _)
  "Say so if something other than a command has covered a proposal."
  ;; A view is being made, or is going.
  (unless pillion--in-command
    (mapc #'pillion-diff--note-hidden pillion-diff--pending)))

;;; Decisions

(defun pillion-diff--ask (diff decision fields answer &optional reason)
  "Ask the program to rule about the DECISION about DIFF, with more FIELDS.
ANSWER is called with what it rules.  The agent gets the person's notes
and their REASON.  Non-nil if it was asked."
  (let ((notes (pillion-notes diff reason)))
    (pillion-client-ask :pillion/decide
                        `( :id ,(pillion-diff-id diff)
                           :revision ,(pillion-diff-revision diff)
                           :decision ,decision
                           ,@(and (length> notes 0) (list :notes notes))
                           ,@fields)
                        answer)))

(defun pillion-diff--decide (diff decision seen &optional reason)
  "Have the program rule about a DECISION about DIFF; the view stays until then.
SEEN is what the person saw who typed it.  DECISION is a name of the
protocol's, and REASON what they say about it."
  (let* ((buffer (pillion-diff-buffer diff))
         (text (and (equal decision "accept") (pillion-diff--text-to-accept buffer)))
         (was-read-only (buffer-local-value 'buffer-read-only buffer))
         (rule (lambda (ruling)
                 (setf (pillion-diff-is-deciding diff) nil)
                 (when (and (pillion-diff--pending-p diff) (buffer-live-p buffer))
                   (with-current-buffer buffer
                     (setq buffer-read-only was-read-only)
                     ;; It says that the buffer is read-only, and no key was pressed.
                     (force-mode-line-update))
                   (pillion-diff--on-ruling diff decision ruling)))))
    (when (pillion-diff-is-deciding diff)
      (user-error "Pillion: this diff is being decided"))
    (when text
      ;; Before the agent hears of it.
      (pillion-reload-expect (pillion-diff-path diff) text (pillion-proposal-merged diff text)))
    (setf (pillion-diff-is-deciding diff) t)
    (pillion-seen-sent)
    ;; What is typed meanwhile would be lost with the view.
    (with-current-buffer buffer
      (setq buffer-read-only t))
    (unless (pillion-diff--ask diff decision
                               `(,@(unless (or (null text) (equal text (pillion-diff-proposed diff)))
                                     (list :content text))
                                 :seen ,seen)
                               rule reason)
      (funcall rule nil))))

(defun pillion-diff--text-to-accept (buffer)
  "The text of BUFFER, if an agent can get it."
  (let ((invalid (pillion-text-invalid-line buffer)))
    (when invalid
      (user-error "Pillion: line %d is not valid UTF-8, so the text cannot be sent" invalid)))
  (pillion-text-of-buffer buffer))

(defun pillion-diff--on-ruling (diff decision ruling)
  "The program's RULING about a DECISION about DIFF has come, nil if it cannot."
  (cond
   ((eq t (plist-get ruling :settled))
    (setq pillion-diff--next (plist-get ruling :next))
    (if (equal decision "accept")
        (pillion-diff--settle diff 'accepted 'decided)
      (pillion-diff--settle-rejected diff 'decided))
    (pillion-notes-told ruling))
   (t
    (when (equal decision "accept")
      (pillion-reload-forget (pillion-diff-path diff)))
    (pillion-say-all
     "%s" (or (plist-get ruling :message)
              "the program does not answer, so nothing is decided: M-x write-file keeps a copy")))))

(defun pillion-diff--settle-rejected (diff when)
  "DIFF is rejected; its view is closed at WHEN.  The person's edits are kept."
  (let ((kept (and (pillion-diff--edited-p diff) (pillion-diff--keep diff))))
    (pillion-diff--settle diff 'rejected when)
    (when kept
      (pillion-say "rejected %s; your edits are in the buffer %s"
                   (pillion-proposal-name diff) kept))))

(defun pillion-diff--await-rulings ()
  "Wait a moment for rulings that are under way: Emacs is about to end."
  (with-timeout (pillion-diff--ruling-timeout)
    (while (seq-some #'pillion-diff-is-deciding pillion-diff--pending)
      (accept-process-output nil 0.05))))

(defun pillion-diff--choose-of (diffs prompt)
  "One of DIFFS, which the person chooses after PROMPT."
  (let* ((names (mapcar (lambda (it)
                          (cons (format "%d %s: %s%s" (pillion-diff-id it)
                                        (pillion-plain (pillion-diff-agent it))
                                        (pillion-plain (pillion-diff-path it))
                                        (pillion-proposal-place it))
                                it))
                        diffs))
         (chosen (cdr (assoc (completing-read prompt names nil t) names))))
    (cond ((null chosen) (user-error "Pillion: no diff was chosen"))
          ((pillion-diff--pending-p chosen) chosen)
          (t (user-error "Pillion: this diff is settled")))))

(defun pillion-diff--leave ()
  "Close the proposal in focus if it is settled: what decides does no more there."
  (let ((diff (pillion-view-focused)))
    (when (and diff (memq diff pillion-diff--leaving))
      (pillion-diff--take-away diff 'closed)
      (user-error "Pillion: %s" (or (pillion-diff-over diff) "this diff is settled")))))

(defun pillion-diff--choose (id prompt)
  "The diff with ID, the one in focus, the only one, or one chosen by PROMPT."
  (let ((focused (pillion-view-focused)))
    (cond
     (id (or (pillion-diff--get (prefix-numeric-value id))
             (user-error "Pillion: no diff %s is pending" (prefix-numeric-value id))))
     ((pillion-diff--pending-p focused) focused)
     ((null pillion-diff--pending) (user-error "Pillion: no diff is pending"))
     ((null (cdr pillion-diff--pending)) (car pillion-diff--pending))
     (t (pillion-diff--choose-of pillion-diff--pending prompt)))))

(defun pillion-diff--typed-p (is-interactive)
  "Return non-nil if this command IS-INTERACTIVE and the person typed it."
  (and is-interactive pillion--in-command (not executing-kbd-macro) (not (pillion-others-p))))

;;;###autoload
(defun pillion-accept (&optional id)
  "Accept a proposal as it stands in its view, with your edits.
It is the one in focus, the only one, or one that you choose; with a
prefix argument, the one with this ID.

Only a command that you give accepts.  Keyboard macros, timers and code
do not, nor does what you type before you have seen the proposal.  If
there is something that you may not expect, a message says so, and the
same command again accepts."
  (interactive "P")
  (pillion-diff--leave)
  (let ((is-typed (pillion-diff--typed-p (called-interactively-p 'interactive))))
    (cond
     ((null pillion-diff--pending)
      (user-error "Pillion: no diff is pending"))
     (executing-kbd-macro
      (user-error "Pillion: a keyboard macro cannot accept"))
     ((not is-typed)
      (user-error "Pillion: only a command that you give accepts")))
    (let ((diff (pillion-diff--choose id "Accept which diff? ")))
      (unless (or (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
                  (eq diff (pillion-view-focused))
                  (pillion-view-shown-p diff))
        (pillion-view-go-to diff))
      (pillion-diff--decide diff "accept" (pillion-seen diff is-typed)))))

;;;###autoload
(defun pillion-reject (&optional id)
  "Reject a proposal.  What you wrote into it stays in a buffer of its own.
It is the one in focus, the only one, or one that you choose; with a
numeric prefix argument, the one with this ID.  With \\[universal-argument] alone, you
are asked for a reason, which the agent gets."
  (interactive "P")
  (pillion-diff--leave)
  (let* ((is-typed (pillion-diff--typed-p (called-interactively-p 'interactive)))
         (diff (pillion-diff--choose (and (not (consp id)) id) "Reject which diff? "))
         ;; Not after the prompt: from the first key on, they know.
         (seen (pillion-seen diff is-typed)))
    (pillion-diff--decide diff "reject" seen (and (consp id) (pillion-notes-ask diff)))))

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
           (pillion-view-go-to (car others)))
          ((and here (not id))
           (pillion-view-go-to (pillion-diff--choose-of others "Go to which diff? ")))
          (t
           (pillion-view-go-to (pillion-diff--choose id "Go to which diff? "))))))

;;; What must not accept

(defun pillion-explain-keys ()
  "Say what decides about a proposal: saving does not."
  (interactive)
  (pillion-say "saving accepts nothing: %s"
               (or (and pillion-diff--mine (pillion-diff-over pillion-diff--mine))
                   "C-c C-c accepts, C-c C-k rejects")))

(defvar-local pillion-diff--write-explained nil)

(defun pillion-diff--on-write ()
  "Write nothing: saving decides nothing."
  (unless (and pillion-diff--write-explained (not pillion--in-command))
    (setq pillion-diff--write-explained t)
    (pillion-explain-keys))
  t)
(put 'pillion-diff--on-write 'permanent-local-hook t)

(defun pillion-diff--on-kill ()
  "The buffer of a proposal is killed: that rejects, unless it is settled."
  (let ((diff pillion-diff--mine))
    (when (eq (current-buffer) (pillion-diff-buffer diff))
      (cond ((pillion-diff--pending-p diff)
             (pillion-diff--ask diff "reject" nil #'pillion-notes-told)
             (pillion-diff--settle-rejected diff 'soon))
            ((memq diff pillion-diff--leaving)
             (pillion-diff--keep-rest diff)
             (setf (pillion-diff-given diff) nil))))))
(put 'pillion-diff--on-kill 'permanent-local-hook t)

(defun pillion-diff--may-kill ()
  "Not while the program rules: its answer comes within two seconds."
  (or (not (pillion-diff-is-deciding pillion-diff--mine))
      (progn (pillion-say "this diff is being decided") nil)))
(put 'pillion-diff--may-kill 'permanent-local-hook t)

(defun pillion-diff--confirm-exit ()
  "Ask before Emacs ends while diffs are pending."
  (pillion-diff--await-rulings)
  (or (null pillion-diff--pending)
      noninteractive
      (y-or-n-p (format "%d %s pending; exit, and reject those that are not open elsewhere? "
                        (length pillion-diff--pending)
                        (if (cdr pillion-diff--pending) "diffs are" "diff is")))))

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
  (pillion-seen-after-command)
  (remove-hook 'pre-command-hook #'pillion-diff--pre-command)
  (remove-hook 'post-command-hook #'pillion-diff--post-command)
  (remove-hook 'window-buffer-change-functions #'pillion-diff--note-all-hidden)
  (remove-hook 'after-delete-frame-functions #'pillion-diff--on-frame-gone)
  (remove-hook 'kill-emacs-query-functions #'pillion-diff--confirm-exit))

;;; Opened and closed for agents

(defun pillion-diff--read (diff params)
  "Put PARAMS of `pillion/openDiff' into DIFF."
  (let* ((agent (plist-get params :agent))
         (original (plist-get params :original)))
    (setf (pillion-diff-revision diff) (or (plist-get params :revision) 1)
          (pillion-diff-path diff) (plist-get params :path)
          (pillion-diff-agent diff) (or (plist-get agent :displayName) "?")
          (pillion-diff-does diff) (or (plist-get params :does) "proposes")
          (pillion-diff-notes diff) (append (plist-get params :notes) nil)
          (pillion-diff-set-label diff) (plist-get (plist-get params :set) :label)
          (pillion-diff-is-new diff) (not (stringp original))
          (pillion-diff-merged diff) nil
          (pillion-diff-original diff) (if (stringp original) original "")
          (pillion-diff-proposed diff) (plist-get params :proposed)
          (pillion-diff-is-lossy diff) (eq t (plist-get params :originalIsLossy)))))

(defun pillion-diff--say-notes (diff)
  "Show the notes of DIFF, for which a narrow window has no room."
  (when (pillion-diff-notes diff)
    (pillion-say "%s" (string-join (pillion-diff-notes diff) " "))))

(defun pillion-diff--begin (diff params)
  "What is in the buffer of DIFF is the proposal in PARAMS."
  (pillion-proposal-begin diff (plist-get params :hunks))
  (setf (pillion-diff-told diff) (plist-get params :hunks))
  (pillion-seen-begin diff))

(defun pillion-diff--replace (diff params)
  "Show the newer proposal in PARAMS in the view of DIFF."
  (let ((kept (and (pillion-diff--edited-p diff) (pillion-diff--keep diff))))
    (when kept
      (setf (pillion-diff-kept diff) kept))
    (pillion-diff--read diff params)
    (let ((original (pillion-diff-original-buffer diff)))
      (when (buffer-live-p original)
        (pillion-text-fill original (pillion-diff-original diff))
        (with-current-buffer original
          (setq buffer-undo-list t))))
    (pillion-seen-forget diff)
    (pillion-text-replace (pillion-diff-buffer diff) (pillion-diff-proposed diff))
    (pillion-diff--begin diff params)
    (run-at-time 0 nil #'pillion-proposal-draw diff)
    (when (or kept (eq diff (pillion-view-focused)))
      (pillion-say-all "%s revised %s%s" (pillion-diff-agent diff) (pillion-proposal-name diff)
                       (if kept
                           (format "; your edits are in the buffer %s, and undo restores them" kept)
                         "")))
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
        (pillion-diff--begin diff params)
        (pillion-draft-follow diff)
        (with-current-buffer (pillion-diff-buffer diff)
          (add-hook 'write-contents-functions #'pillion-diff--on-write nil t)
          (add-hook 'kill-buffer-query-functions #'pillion-diff--may-kill nil t)
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
      (pillion-diff--abandon diff (equal (plist-get params :reason) "agentGone")
                             (plist-get params :message))
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
