;;; pillion-notes.el --- What the person says about a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Notes on lines of a proposal, and the reason for a decision.  They go to the
;; agent with it.  Each note is an overlay, so it moves with its lines.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-proposal)
(require 'pillion-view)

(defface pillion-note '((t :inherit font-lock-comment-face :weight bold))
  "Your notes on a proposal."
  :group 'pillion)

(defvar pillion-notes--history nil
  "The texts that were written to agents before.")

(defun pillion-notes--overlays (buffer)
  "The overlays of the notes in BUFFER, in the order of their lines."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (sort (seq-filter (lambda (it) (overlay-get it 'pillion-note))
                        (overlays-in (point-min) (point-max)))
            (lambda (a b) (< (overlay-start a) (overlay-start b)))))))

(defun pillion-notes-count (diff)
  "Return the number of notes on DIFF."
  (length (pillion-notes--overlays (pillion-diff-buffer diff))))

(defun pillion-notes--read (prompt &optional former)
  "Ask the person with PROMPT for a text; FORMER is there to be changed."
  (let ((enable-recursive-minibuffers t))
    (read-from-minibuffer prompt former nil nil 'pillion-notes--history)))

(defun pillion-notes-ask (diff)
  "Ask the person why they reject DIFF."
  (let ((revision (pillion-diff-revision diff))
        (reason (pillion-notes--read "Reject because (C-g decides nothing): ")))
    (unless (pillion-diff--pending-p diff)
      (user-error "Pillion: this diff is settled; M-p in a prompt brings the reason back"))
    (unless (eql revision (pillion-diff-revision diff))
      (user-error "Pillion: a newer proposal came meanwhile; M-p brings the reason back"))
    reason))

(defun pillion-notes (diff &optional reason)
  "The notes on DIFF, and the REASON of the decision, for the program."
  (let ((buffer (pillion-diff-buffer diff)))
    (vconcat
     (and reason (list (list :text (pillion-valid reason))))
     (and (buffer-live-p buffer)
          (with-current-buffer buffer
            (save-restriction
              (widen)
              (mapcar
               (lambda (it)
                 (let ((first (1- (line-number-at-pos (overlay-start it) t)))
                       (last (1- (line-number-at-pos (overlay-end it) t))))
                   (list :lines (list :first first :last last)
                         :text (pillion-valid (overlay-get it 'pillion-note)))))
               (pillion-notes--overlays buffer))))))))

(defun pillion-notes-told (ruling)
  "Say what becomes of the notes, as the RULING about their decision has it."
  (let ((message (plist-get ruling :message)) (clipboard (plist-get ruling :clipboard)))
    (when (stringp clipboard)
      (kill-new clipboard))
    (when (stringp message)
      (pillion-say-all "%s" message))))

(defun pillion-notes-keep (diff)
  "Put the notes on DIFF, which ends without a decision, into the kill ring."
  (let ((notes (mapcar (lambda (it) (plist-get it :text)) (pillion-notes diff))))
    (when notes
      (kill-new (string-join notes "\n"))
      (pillion-say "the agent was not told your notes: C-y inserts them"))))

(defun pillion-notes--show (overlay text)
  "Make TEXT the note of OVERLAY, and show it below its lines."
  (overlay-put overlay 'pillion-note text)
  (overlay-put overlay 'after-string
               (mapconcat (lambda (line)
                            (propertize (concat "\n▸ " (pillion-plain line)) 'face 'pillion-note))
                          (split-string text "\n") ""))
  (force-mode-line-update t))

(defun pillion-notes--lines ()
  "Where the lines of the region begin and end, or else the one of point."
  (let ((from (if (use-region-p) (region-beginning) (point)))
        (to (if (use-region-p) (region-end) (point))))
    (save-excursion
      (goto-char to)
      (when (and (bolp) (< from to))
        (forward-char -1))
      (let ((end (line-end-position)))
        (goto-char from)
        (cons (line-beginning-position) end)))))

(defun pillion-notes--at (from to)
  "The note on a line between FROM and TO, or nil."
  (seq-find (lambda (it) (and (<= (overlay-start it) to) (<= from (overlay-end it))))
            (pillion-notes--overlays (current-buffer))))

;;;###autoload
(defun pillion-note ()
  "Write a note on this line of a proposal, or on those of the region.
The agent gets it when you accept or reject.  A note that is there can
be changed, and an empty one is removed."
  (interactive)
  (let ((diff pillion-diff--mine) (buffer (current-buffer)))
    (unless (and (pillion-diff--pending-p diff) (eq buffer (pillion-diff-buffer diff)))
      (user-error "Pillion: notes are written on a proposal, in its own window"))
    (pcase-let* ((`(,from . ,to) (pillion-notes--lines))
                 (former (pillion-notes--at from to))
                 ;; It moves with the text while the person writes.
                 (overlay (or former (make-overlay from to buffer)))
                 (text nil))
      (unwind-protect
          (setq text (pillion-notes--read "Note (empty removes it): "
                                          (and former (overlay-get former 'pillion-note))))
        (when (and (not text) (not former))
          (delete-overlay overlay)))
      (deactivate-mark)
      (cond ((not (overlay-buffer overlay))
             (user-error "Pillion: this diff is settled; M-p in a prompt brings the note back"))
            ((string-blank-p text) (delete-overlay overlay))
            (t (pillion-notes--show overlay text)))
      ;; At once: Emacs may be killed before the person decides.
      (pillion-client-notify :pillion/didChangeNotes
                             (list :id (pillion-diff-id diff) :revision (pillion-diff-revision diff)
                                   :notes (pillion-notes diff)))
      (force-mode-line-update t))))

(provide 'pillion-notes)
;;; pillion-notes.el ends here
