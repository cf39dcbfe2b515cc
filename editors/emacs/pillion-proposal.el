;;; pillion-proposal.el --- The buffers of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What is proposed, and the two buffers that show it: the original and the
;; proposal, what differs between them, and their header lines.

;;; Code:

(require 'cl-lib)
(require 'pillion-core)
(require 'pillion-hunks)
(require 'pillion-text)

(cl-defstruct (pillion-diff (:constructor pillion-diff--make) (:copier nil))
  "A proposal that waits for a decision."
  id revision path agent notes original proposed is-new is-lossy
  ignores-empty unchanged-rejects remarks
  ;; Its buffers, and what differs between them.
  buffer original-buffer hunks refresh-timer
  ;; Which revision was drawn, and since when; whether a key sequence was begun before.
  (seen-revision 0) (seen-since 0.0) (refused-at 0.0) begun-before warning
  ;; Since when it has a focus for which the person did not ask; the last key that was meant for another.
  came-at (astray-at 0.0)
  ;; Where it is shown: the frame, its windows, and its configuration before.
  frame windows arrangement config control is-hidden is-announced)

(defvar pillion-diff--pending nil
  "The diffs that wait for a decision, the oldest first.")

(defvar pillion-diff--leaving nil
  "Settled diffs whose views are about to close.")

(defun pillion-diff--get (id)
  "The pending diff with this ID, or nil."
  (seq-find (lambda (it) (equal (pillion-diff-id it) id)) pillion-diff--pending))

(defun pillion-diff--pending-p (diff)
  "Whether DIFF waits for a decision."
  (and diff (memq diff pillion-diff--pending)))

(defvar-local pillion-diff--mine nil
  "The proposal to which this buffer belongs.")
(put 'pillion-diff--mine 'permanent-local t)

(defface pillion-added '((t :inherit diff-added))
  "Lines that a proposal adds or changes."
  :group 'pillion)
(defface pillion-removed '((t :inherit diff-removed))
  "Lines that a proposal removes or changes."
  :group 'pillion)

(defconst pillion-proposal--max-coloured 1000000
  "Texts of more characters are shown without colours.")

(defvar pillion-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'pillion-accept)
    (define-key map (kbd "C-c C-k") #'pillion-reject)
    (define-key map (kbd "C-c C-n") #'pillion-next-hunk)
    (define-key map (kbd "C-c C-p") #'pillion-previous-hunk)
    (define-key map (kbd "C-c C-d") #'pillion-drop-hunk)
    ;; Evil's `:w', `:wq', `:x' and ZZ among them.
    (dolist (command '(save-buffer evil-write evil-save-and-close evil-save-modified-and-close))
      (define-key map (vector 'remap command) #'pillion-explain-keys))
    map)
  "Keys in the buffers of a proposal.")

(declare-function pillion-accept "pillion-diff" (&optional id))
(declare-function pillion-reject "pillion-diff" (&optional id))
(declare-function pillion-explain-keys "pillion-diff" ())
(declare-function pillion-next-hunk "pillion-diff" ())
(declare-function pillion-previous-hunk "pillion-diff" ())
(declare-function pillion-drop-hunk "pillion-diff" ())

(define-minor-mode pillion-diff-mode
  "The keys that decide about a proposal.

\\{pillion-diff-mode-map}"
  :lighter " Proposal"
  :keymap pillion-diff-mode-map)
(put 'pillion-diff-mode 'permanent-local t)

;;; What a view says about itself

(defun pillion-proposal-name (diff)
  "The file of DIFF, for people."
  (let ((project (and (pillion-diff-buffer diff)
                      (buffer-live-p (pillion-diff-buffer diff))
                      (buffer-local-value 'default-directory (pillion-diff-buffer diff)))))
    (pillion-plain
     (if project
         (file-name-nondirectory (pillion-diff-path diff))
       (pillion-diff-path diff)))))

(defun pillion-proposal--unsaved (diff)
  "The modified buffer of the file of DIFF, or nil."
  (let ((open (and (not (pillion-diff-is-new diff))
                   (pillion-file-buffer (pillion-diff-path diff)))))
    (and open (buffer-modified-p open) open)))

(defun pillion-proposal--look-for-remarks (diff)
  "Note what no line of DIFF can show, the shortest first."
  (setf (pillion-diff-remarks diff)
        (append (unless (pillion-diff-is-new diff)
                  (pillion-text-remarks (pillion-diff-original diff)
                                        (pillion-diff-proposed diff)))
                (when (pillion-diff-is-lossy diff)
                  (list "not UTF-8 on disk, will be UTF-8"))
                (when (pillion-proposal--unsaved diff)
                  (list "your buffer has unsaved changes"))
                (mapcar #'pillion-plain (pillion-diff-notes diff)))))

(defun pillion-proposal--show-remarks (diff)
  "Show all remarks on DIFF at its first hunk, however long they are."
  (let* ((buffer (pillion-diff-buffer diff))
         (hunk (car (pillion-diff-hunks diff)))
         (at (if hunk (pillion-proposal-line-position buffer (nth 2 hunk)) 1)))
    (when (pillion-diff-remarks diff)
      (let ((overlay (make-overlay at at buffer)))
        (overlay-put overlay 'pillion t)
        (overlay-put overlay 'before-string
                     (mapconcat (lambda (it) (propertize (concat "! " it "\n") 'face 'warning))
                                (pillion-diff-remarks diff) ""))))))

(defun pillion-proposal--header (diff)
  "The header line of the proposal of DIFF."
  ;; A narrow window cuts off the end: what people know by heart comes last.
  (string-replace
   "%" "%%"
   (concat " " (propertize (pillion-proposal-name diff) 'face 'bold)
           (when (buffer-modified-p (pillion-diff-buffer diff))
             ", edited")
           (mapconcat (lambda (it) (concat " | " (propertize it 'face 'warning)))
                      (pillion-diff-remarks diff) "")
           " | C-c C-c accepts, C-c C-k rejects | "
           (pillion-plain (pillion-diff-agent diff)))))

(defun pillion-proposal--original-header (diff)
  "The header line of the original of DIFF."
  (string-replace
   "%" "%%"
   (format " %s (%s)" (pillion-proposal-name diff)
           (cond ((pillion-diff-is-new diff) "new file")
                 (t "on disk")))))

;;; Buffers

(defun pillion-proposal--mode (diff)
  "The major mode for the file of DIFF, or nil."
  (let ((open (pillion-file-buffer (pillion-diff-path diff))))
    (if open
        (buffer-local-value 'major-mode open)
      ;; By the name alone: what the model wrote chooses nothing.
      (let ((mode (assoc-default (file-name-sans-versions (pillion-diff-path diff))
                                 auto-mode-alist #'string-match-p)))
        (and (symbolp mode) (fboundp mode) mode)))))

(defun pillion-proposal--colour (buffer mode)
  "Give BUFFER the colours of MODE, but run no hooks that are meant for files."
  (with-current-buffer buffer
    (let ((mode (if (or (null mode) (>= (buffer-size) pillion-proposal--max-coloured)
                        (memq mode '(image-mode archive-mode tar-mode
                                                doc-view-mode doc-view-mode-maybe)))
                    ;; Some mode has to be set: global ones, such as Evil, wait for that.
                    #'fundamental-mode
                  mode))
          (enable-local-variables nil)
          (inhibit-message t)
          (is-modified (buffer-modified-p)))
      (delay-mode-hooks
        (condition-case nil
            (let ((inhibit-read-only t))
              (funcall mode)
              (when font-lock-defaults
                (font-lock-mode 1)))
          ;; Missing colours are no reason to hide a diff.
          (error nil)))
      (setq buffer-file-name nil
            buffer-auto-save-file-name nil)
      (restore-buffer-modified-p is-modified))))

(defun pillion-proposal--make-buffer (name diff text)
  "A buffer of DIFF, called NAME, with TEXT in it."
  (let ((buffer (generate-new-buffer
                 (format "*%s: %s*" name
                         (pillion-plain (file-name-nondirectory (pillion-diff-path diff))))))
        (folder (file-name-directory (pillion-diff-path diff))))
    (with-current-buffer buffer
      (setq default-directory (if (and (not (file-remote-p folder)) (file-directory-p folder))
                                  folder
                                (expand-file-name "~/")))
      (pillion-text-fill buffer text)
      (let ((coding buffer-file-coding-system))
        (pillion-proposal--colour buffer (pillion-proposal--mode diff))
        (setq buffer-file-coding-system coding))
      ;; A mode may have changed the text; nobody edited it yet.
      (unless (equal (pillion-text-of-buffer buffer) text)
        (fundamental-mode)
        (pillion-text-fill buffer text))
      (setq buffer-undo-list nil
            pillion-diff--mine diff)
      (setq-local require-final-newline nil
                  mode-require-final-newline nil)
      (pillion-diff-mode 1))
    buffer))

(defun pillion-proposal-make-buffers (diff)
  "Make the buffers of DIFF."
  (let ((original (and (not (pillion-diff-is-new diff))
                       (pillion-proposal--make-buffer "Original" diff (pillion-diff-original diff))))
        (buffer (pillion-proposal--make-buffer "Proposal" diff (pillion-diff-proposed diff))))
    (when original
      (with-current-buffer original
        (setq buffer-read-only t
              buffer-undo-list t
              header-line-format '(:eval (pillion-proposal--original-header pillion-diff--mine)))))
    (with-current-buffer buffer
      (setq header-line-format '(:eval (pillion-proposal--header pillion-diff--mine)))
      (add-hook 'after-change-functions #'pillion-proposal--changed nil t)
      (add-hook 'post-command-hook #'pillion-proposal--follow nil t))
    (setf (pillion-diff-original-buffer diff) original
          (pillion-diff-buffer diff) buffer)))

;;; What differs

(defun pillion-proposal--lines (buffer)
  "The lines of BUFFER."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n"))))

(defun pillion-proposal-line-position (buffer line)
  "Where LINE of BUFFER begins, counted from 0."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (if (and (> (forward-line line) 0)) (point-max) (point))))))

(defun pillion-proposal--paint (buffer line count face)
  "Draw COUNT lines of BUFFER from LINE on with FACE."
  (let* ((from (pillion-proposal-line-position buffer line))
         (to (pillion-proposal-line-position buffer (+ line count)))
         (overlay (make-overlay from (max to from) buffer)))
    (overlay-put overlay 'pillion t)
    (overlay-put overlay 'face face)))

(defun pillion-proposal--rest (original buffer)
  "One hunk from where BUFFER begins to differ from ORIGINAL, of long texts."
  (let* ((case-fold-search nil)
         (first (compare-buffer-substrings original nil nil buffer nil nil))
         (line (with-current-buffer buffer
                 (1- (line-number-at-pos (min (abs first) (point-max)) t))))
         (count (lambda (it)
                  (with-current-buffer it
                    (max 0 (- (line-number-at-pos (point-max) t) line))))))
    (unless (zerop first)
      (list (list line (funcall count original) line (funcall count buffer))))))

(defun pillion-proposal-compare (diff)
  "Note and draw what differs in DIFF."
  (let ((buffer (pillion-diff-buffer diff))
        (original (pillion-diff-original-buffer diff)))
    (when (buffer-live-p buffer)
      (dolist (it (list buffer original))
        (when (buffer-live-p it)
          (with-current-buffer it
            (save-restriction
              (widen)
              (remove-overlays (point-min) (point-max) 'pillion t)))))
      (pillion-proposal--look-for-remarks diff)
      (setf (pillion-diff-hunks diff)
            (and (buffer-live-p original)
                 (if (> (max (buffer-size buffer) (buffer-size original))
                        pillion-proposal--max-coloured)
                     (pillion-proposal--rest original buffer)
                   (pillion-hunks-between (pillion-proposal--lines original)
                                          (pillion-proposal--lines buffer)))))
      (pcase-dolist (`(,old ,old-count ,new ,new-count) (pillion-diff-hunks diff))
        (pillion-proposal--paint original old old-count 'pillion-removed)
        (pillion-proposal--paint buffer new new-count 'pillion-added))
      (pillion-proposal--show-remarks diff))))

(defun pillion-proposal--changed (&rest _)
  "Compare again once nothing is typed for a moment."
  (let ((diff pillion-diff--mine))
    (when (and diff (not (memq (pillion-diff-refresh-timer diff) timer-list)))
      (setf (pillion-diff-refresh-timer diff)
            (run-at-time 0.2 nil #'pillion-proposal-compare diff)))))

(defun pillion-proposal--original-line (diff line)
  "The line of the original that stands for LINE of the proposal of DIFF."
  (let ((shift 0))
    (pcase-dolist (`(,_ ,old-count ,new ,new-count) (pillion-diff-hunks diff))
      (cond ((>= line (+ new new-count)) (setq shift (+ shift (- old-count new-count))))
            ((>= line new)
             (setq shift (- (min (- line new) (max (1- old-count) 0)) (- line new)
                            (- shift))))))
    (max 0 (+ line shift))))

(defun pillion-proposal--follow ()
  "Show the same place of the original."
  (let* ((diff pillion-diff--mine)
         (original (and diff (pillion-diff-original-buffer diff)))
         (window (and (buffer-live-p original) (get-buffer-window original))))
    (when (and window (eq (window-buffer (selected-window)) (current-buffer)))
      (set-window-point
       window
       (pillion-proposal-line-position
        original
        (pillion-proposal--original-line diff (1- (line-number-at-pos nil t))))))))

(provide 'pillion-proposal)
;;; pillion-proposal.el ends here
