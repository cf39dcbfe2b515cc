;;; pillion-proposal.el --- The buffers of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What is proposed, and the two buffers that show it: the original and the
;; proposal, what differs between them, and their header lines.
;;
;; Proposals are not files: autosave ignores them, hooks of major modes do not
;; run in them, and a name from an agent that looks like one of TRAMP opens no
;; connection.

;;; Code:

(require 'cl-lib)
(require 'pillion-core)
(require 'pillion-hunks)
(require 'pillion-text)

(cl-defstruct (pillion-diff (:constructor pillion-diff--make) (:copier nil))
  "A proposal that waits for a decision."
  id revision path agent (does "proposes") notes original proposed is-new is-lossy remarks
  ;; Its place in its set in words, or nil.
  set-label
  ;; Its buffers, what differs between them, and of which state of the text that is true.
  buffer original-buffer hunks compared refresh-timer
  ;; Which revision was drawn, and since when; the overlays of the hunks with which it came.
  (seen-revision 0) (seen-since 0.0) told parts
  ;; How many of these were on the screen, nil until the first look.
  seen-count
  ;; Whether the program is ruling about a decision.  What the person had not saved when that was
  ;; merged in, and what came of it.
  is-deciding merged
  ;; The buffer with what the person wrote into a former revision.
  kept
  ;; Once it was closed for the agent: why, whether its view stays until the person leaves it, and which text somebody
  ;; else has.
  over is-held given
  ;; Since when it has, or no longer has, a focus for which the person did not ask; the last key that was meant for
  ;; another.
  came-at (astray-at 0.0)
  ;; Where it is shown: the frame, its windows, and its configuration before.
  frame windows arrangement config control is-hidden is-announced)

(defvar pillion-diff--pending nil
  "The diffs that wait for a decision, the oldest first.")

(defvar pillion-diff--next nil
  "The number of the diff that comes next, as the program says with a decision.
It is another file of the same set; nil if there is none.")

(defvar pillion-diff--leaving nil
  "Settled diffs whose views are about to close.")

(defun pillion-diff--get (id)
  "The pending diff with this ID, or nil."
  (seq-find (lambda (it) (equal (pillion-diff-id it) id)) pillion-diff--pending))

(defun pillion-diff--pending-p (diff)
  "Return non-nil if DIFF waits for a decision."
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

(defface pillion-added-text '((t :inherit diff-refine-added))
  "What a proposal adds or changes within a line."
  :group 'pillion)
(defface pillion-removed-text '((t :inherit diff-refine-removed))
  "What a proposal removes or changes within a line."
  :group 'pillion)

(defconst pillion-proposal--max-refined 1000
  "Within more changed lines, what differs is not marked.")

(defconst pillion-proposal--max-coloured 1000000
  "Texts of more characters have no colours of a mode.
They are compared only when a command needs it.")

(defvar pillion-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'pillion-accept)
    (define-key map (kbd "C-c C-k") #'pillion-reject)
    (define-key map (kbd "C-c C-a") #'pillion-note)
    (define-key map (kbd "C-c C-v") #'pillion-next-unseen)
    (define-key map (kbd "C-c C-n") #'pillion-next-hunk)
    (define-key map (kbd "C-c C-p") #'pillion-previous-hunk)
    (define-key map (kbd "C-c C-d") #'pillion-drop-hunk)
    (define-key map (kbd "C-c C-m") #'pillion-merge)
    ;; Evil's `:w', `:wq', `:x' and ZZ among them.
    (dolist (command '(save-buffer evil-write evil-save-and-close evil-save-modified-and-close))
      (define-key map (vector 'remap command) #'pillion-explain-keys))
    map)
  "Keys in the buffers of a proposal.")

(defvar org-inhibit-startup)
(declare-function pillion-accept "pillion-diff" (&optional id))
(declare-function pillion-reject "pillion-diff" (&optional id))
(declare-function pillion-explain-keys "pillion-diff" ())
(declare-function pillion-note "pillion-notes" ())
(declare-function pillion-notes-count "pillion-notes" (diff))
(declare-function pillion-next-unseen "pillion-seen" ())
(declare-function pillion-next-hunk "pillion-diff" ())
(declare-function pillion-previous-hunk "pillion-diff" ())
(declare-function pillion-drop-hunk "pillion-diff" ())
(declare-function pillion-merge "pillion-merge" ())

(define-minor-mode pillion-diff-mode
  "The keys that decide about a proposal.
Its header line says how many of its hunks have been on the screen, as
in \"seen 5/40\", until all have.  \\[pillion-next-unseen] goes on to what has not.

\\{pillion-diff-mode-map}"
  :lighter " Proposal"
  :keymap pillion-diff-mode-map)
(put 'pillion-diff-mode 'permanent-local t)

;;; What a view says about itself

(defun pillion-proposal-name (diff)
  "The file of DIFF for people, with its place in its set."
  (concat (pillion-proposal--file diff) (pillion-proposal-place diff)))

(defun pillion-proposal-place (diff)
  "What follows the name of the file of DIFF if it is in a set."
  (if (pillion-diff-set-label diff)
      (format " (%s)" (pillion-plain (pillion-diff-set-label diff)))
    ""))

(defun pillion-proposal--file (diff)
  "The file of DIFF, for people."
  (let ((project (and (pillion-diff-buffer diff)
                      (buffer-live-p (pillion-diff-buffer diff))
                      (buffer-local-value 'default-directory (pillion-diff-buffer diff)))))
    (pillion-plain
     (if project
         (file-name-nondirectory (pillion-diff-path diff))
       (pillion-diff-path diff)))))

(defun pillion-proposal-unsaved (diff)
  "The modified buffer of the file of DIFF, or nil."
  (let ((open (pillion-file-buffer (pillion-diff-path diff))))
    (and open (buffer-modified-p open) open)))

(defun pillion-proposal-merged (diff text)
  "The person's text that TEXT, which stands in DIFF, was merged with, or nil.
After other changes of TEXT, nobody knows whether all of it is there."
  (and (equal text (cdr (pillion-diff-merged diff)))
       (car (pillion-diff-merged diff))))

(defun pillion-proposal--unsaved-remark (diff)
  "Return a remark on what is unsaved in the file of DIFF, or nil."
  (let ((open (pillion-proposal-unsaved diff)))
    (cond ((null open) nil)
          ((equal (pillion-proposal-merged diff (pillion-text-of-buffer (pillion-diff-buffer diff)))
                  (pillion-text-of-buffer open))
           "has your unsaved changes")
          (t "your buffer has unsaved changes: C-c RET merges them"))))

(defun pillion-proposal--look-for-remarks (diff)
  "Note what no line of DIFF can show, the shortest first."
  (setf (pillion-diff-remarks diff)
        (append (unless (pillion-diff-is-new diff)
                  (pillion-text-remarks (pillion-diff-original diff)
                                        (pillion-diff-proposed diff)))
                (when (pillion-diff-is-lossy diff)
                  (list "not UTF-8 on disk, will be UTF-8"))
                (ensure-list (pillion-proposal--unsaved-remark diff))
                (when (and (pillion-diff-kept diff) (get-buffer (pillion-diff-kept diff)))
                  (list (format "your edits of the former one: %s" (pillion-diff-kept diff))))
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

(defun pillion-proposal--seen (diff)
  "Return the count of seen hunks of DIFF as text, empty if all were seen."
  (let ((count (pillion-diff-seen-count diff)) (all (length (pillion-diff-parts diff))))
    (if (and count (< count all)) (format " | seen %d/%d" count all) "")))

(defun pillion-proposal--header (diff)
  "The header line of the proposal of DIFF, in the selected window."
  ;; A narrow window cuts off the end: what people know by heart comes last, unless remarks alone would fill the line.
  ;; In full, these are at the first hunk.
  (let* ((room (window-width))
         (seen (pillion-proposal--seen diff))
         (name (pillion-proposal--file diff))
         (notes (pillion-notes-count diff))
         (edited (concat (pillion-proposal-place diff)
                         (if (buffer-modified-p (pillion-diff-buffer diff)) ", edited" "")
                         (pcase notes (0 "") (1 ", 1 note") (_ (format ", %d notes" notes)))))
         (remarks (mapconcat (lambda (it) (concat " | " (propertize it 'face 'warning)))
                             (pillion-diff-remarks diff) ""))
         (keys (concat " | " (or (pillion-diff-over diff) "C-c C-c accepts, C-c C-k rejects")))
         (is-long (> (string-width (concat edited seen remarks keys)) (- room 10)))
         (rest (concat (if is-long keys remarks)
                       (if is-long remarks keys)
                       " | " (pillion-plain (pillion-diff-agent diff))))
         (key (if (equal seen "") "" ": C-c C-v goes on"))
         (needed (string-width (concat " " edited seen))))
    (when (> (+ (string-width (concat name key rest)) needed) room)
      (setq key ""))
    (string-replace
     "%" "%%"
     (concat " " (propertize (truncate-string-to-width name (max 8 (- room needed)) nil nil "…")
                             'face 'bold)
             edited seen key rest))))

(defun pillion-proposal--original-header (diff)
  "The header line of the original of DIFF."
  (string-replace
   "%" "%%"
   (format " %s (%s)" (pillion-proposal--file diff)
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
          (org-inhibit-startup t)
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
                  mode-require-final-newline nil
                  ;; What is cut off is not seen.
                  truncate-lines (default-value 'truncate-lines)
                  truncate-partial-width-windows nil)
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
      (add-hook 'post-command-hook #'pillion-proposal--follow-command nil t))
    (setf (pillion-diff-original-buffer diff) original
          (pillion-diff-buffer diff) buffer)))

;;; What differs

(defun pillion-proposal-line-position (buffer line)
  "Where LINE of BUFFER begins, counted from 0."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (if (and (> (forward-line line) 0)) (point-max) (point))))))

;; Lines of a buffer are lists of the first one, from 0, and how many they are.

(defun pillion-proposal-places (buffer lines)
  "Where LINES of BUFFER are, which are in its order: pairs of positions."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (let ((at 0))
          (mapcar (pcase-lambda (`(,line ,count))
                    (forward-line (- line at))
                    (let ((from (point)))
                      (forward-line count)
                      (setq at (+ line count))
                      (cons from (point))))
                  lines))))))

(defun pillion-proposal--overlay (from to face)
  "Draw what is between FROM and TO of the current buffer with FACE."
  (let ((overlay (make-overlay from to)))
    (overlay-put overlay 'pillion t)
    (overlay-put overlay 'face face)
    overlay))

(defun pillion-proposal--paint (buffer lines face)
  "Draw LINES of BUFFER with FACE, and in them what is no text."
  (let ((places (pillion-proposal-places buffer lines)))
    (with-current-buffer buffer
      (save-excursion
        (pcase-dolist (`(,from . ,to) places)
          (pillion-proposal--overlay from to face)
          (goto-char from)
          (while (search-forward "\ufffd" to t)
            (overlay-put (pillion-proposal--overlay (1- (point)) (point) 'error) 'priority 1)))))))

(defun pillion-proposal--common (one other)
  "The number of characters with which ONE and OTHER begin."
  (let ((found (compare-strings one nil nil other nil nil)))
    (if (eq found t) (length one) (1- (abs found)))))

(defun pillion-proposal--refine (original buffer hunks)
  "Mark what differs within the lines of ORIGINAL that became lines of BUFFER.
They are those of HUNKS that have as many lines as before."
  (let* ((changed (seq-filter (lambda (it) (= (nth 1 it) (nth 3 it))) hunks))
         (lines-of (lambda (side)
                     (take pillion-proposal--max-refined
                           (mapcan (lambda (it)
                                     (mapcar (lambda (nth) (list (+ (nth side it) nth) 1))
                                             (number-sequence 0 (1- (nth 1 it)))))
                                   changed))))
         (text-of (lambda (buffer place)
                    (with-current-buffer buffer
                      (string-remove-suffix
                       "\n" (buffer-substring-no-properties (car place) (cdr place))))))
         (paint (lambda (buffer place text head tail face)
                  (with-current-buffer buffer
                    (when (< head (- (length text) tail))
                      (pillion-proposal--overlay (+ (car place) head)
                                                 (+ (car place) (- (length text) tail))
                                                 face))))))
    (seq-mapn
     (lambda (old new)
       (let* ((before (funcall text-of original old))
              (after (funcall text-of buffer new))
              (head (pillion-proposal--common before after))
              (tail (pillion-proposal--common (reverse (substring before head))
                                              (reverse (substring after head)))))
         (when (< 0 (+ head tail))
           (funcall paint original old before head tail 'pillion-removed-text)
           (funcall paint buffer new after head tail 'pillion-added-text))))
     (pillion-proposal-places original (funcall lines-of 0))
     (pillion-proposal-places buffer (funcall lines-of 2)))))

(defun pillion-proposal-draw (diff)
  "Draw what differs in DIFF."
  (let ((buffer (pillion-diff-buffer diff))
        (original (pillion-diff-original-buffer diff))
        (hunks (pillion-diff-hunks diff)))
    (when (buffer-live-p buffer)
      (dolist (it (list buffer original))
        (when (buffer-live-p it)
          (with-current-buffer it
            (save-restriction
              (widen)
              (remove-overlays (point-min) (point-max) 'pillion t)))))
      (pillion-proposal--look-for-remarks diff)
      (when (buffer-live-p original)
        (pillion-proposal--paint original (mapcar (lambda (it) (take 2 it)) hunks) 'pillion-removed)
        (pillion-proposal--paint buffer (mapcar #'cddr hunks) 'pillion-added)
        (pillion-proposal--refine original buffer hunks))
      (pillion-proposal--show-remarks diff))))

(defun pillion-proposal--tick (diff)
  "Return a number that grows with each change of the text of DIFF."
  (buffer-chars-modified-tick (pillion-diff-buffer diff)))

(defun pillion-proposal--compared (diff hunks)
  "The text of DIFF differs from the original in HUNKS."
  (setf (pillion-diff-hunks diff) hunks
        (pillion-diff-compared diff) (pillion-proposal--tick diff))
  (pillion-proposal-draw diff))

(defun pillion-proposal-begin (diff hunks)
  "The proposal of DIFF came with HUNKS, as the program has them."
  (setf (pillion-diff-hunks diff)
        (pillion-hunks-read hunks (pillion-diff-original diff) (pillion-diff-proposed diff))
        (pillion-diff-compared diff) (pillion-proposal--tick diff)))

(defun pillion-proposal-unchanged (diff)
  "The text of DIFF is the same again as when it was compared last."
  (pillion-proposal--compared diff (pillion-diff-hunks diff)))

(defun pillion-proposal--compare-soon (diff)
  "Have DIFF compared as it is now, unless it was or is gone."
  (when (and (buffer-live-p (pillion-diff-buffer diff))
             (not (eql (pillion-diff-compared diff) (pillion-proposal--tick diff)))
             (< (buffer-size (pillion-diff-buffer diff)) pillion-proposal--max-coloured))
    (let ((tick (pillion-proposal--tick diff)))
      (pillion-hunks-ask (pillion-diff-original diff)
                         (pillion-text-of-buffer (pillion-diff-buffer diff))
                         (lambda (hunks)
                           (when (and (buffer-live-p (pillion-diff-buffer diff))
                                      (eql tick (pillion-proposal--tick diff)))
                             (pillion-proposal--compared diff hunks)))))))

(defun pillion-proposal-compare (diff)
  "Have DIFF compared as it is now, unless it was, and wait for that."
  (unless (eql (pillion-diff-compared diff) (pillion-proposal--tick diff))
    (let ((tick (pillion-proposal--tick diff))
          (hunks (pillion-hunks-now (pillion-diff-original diff)
                                    (pillion-text-of-buffer (pillion-diff-buffer diff)))))
      ;; While it waited, a newer proposal may have come, or this one gone.
      (unless (and (buffer-live-p (pillion-diff-buffer diff))
                   (eql tick (pillion-proposal--tick diff)))
        (user-error "Pillion: the proposal has changed meanwhile"))
      (pillion-proposal--compared diff hunks))))

(defun pillion-proposal--changed (&rest _)
  "Compare again once nothing is typed for a moment."
  (let ((diff pillion-diff--mine))
    (when (and diff (not (memq (pillion-diff-refresh-timer diff) timer-list)))
      (setf (pillion-diff-refresh-timer diff)
            (run-at-time 0.2 nil #'pillion-proposal--compare-soon diff)))))

(defun pillion-proposal--original-line (diff line)
  "The line of the original that stands for LINE of the proposal of DIFF."
  (let ((shift 0))
    (pcase-dolist (`(,_ ,old-count ,new ,new-count) (pillion-diff-hunks diff))
      (cond ((>= line (+ new new-count)) (setq shift (+ shift (- old-count new-count))))
            ((>= line new)
             (setq shift (- (min (- line new) (max (1- old-count) 0)) (- line new)
                            (- shift))))))
    (max 0 (+ line shift))))

(defun pillion-proposal--follow-command ()
  "A command has ended: show the same place of the original."
  ;; That one may have gone on there.
  (unless (eq this-command 'pillion-next-unseen)
    (pillion-proposal-follow)))

(defun pillion-proposal-follow ()
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
