;;; pillion-view.el --- The windows of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; How a proposal is shown and taken away again, with everything as it was then.
;; What is decided in it is the matter of pillion-diff.el.

;;; Code:

(require 'cl-lib)
(require 'pillion-core)
(require 'pillion-text)
(require 'pillion-hunks)
(require 'pillion-terminal)

(defvar ediff-keep-variants)
(defvar ediff-quit-hook)
(declare-function ediff-buffers "ediff" (buffer-a buffer-b &optional startup-hooks job-name))
(declare-function ediff-really-quit "ediff-util" (reverse-default-keep-variants))

(cl-defstruct (pillion-diff (:constructor pillion-diff--make) (:copier nil))
  "A proposal that waits for a decision."
  id revision path agent notes original proposed is-new is-lossy
  ignores-empty unchanged-rejects
  ;; Its buffers, and what differs between them.
  buffer original-buffer hunks refresh-timer
  ;; Which revision was drawn, and since when; whether a key sequence was begun before.
  (seen-revision 0) (seen-since 0.0) (refused-at 0.0) begun-before warning
  ;; Where it is shown: the frame, its windows, and its configuration before.
  frame windows layout config has-focus control)

(defvar-local pillion-diff--mine nil
  "The proposal to which this buffer belongs.")
(put 'pillion-diff--mine 'permanent-local t)

(defface pillion-added '((t :inherit diff-added))
  "Lines that a proposal adds or changes."
  :group 'pillion)
(defface pillion-removed '((t :inherit diff-removed))
  "Lines that a proposal removes or changes."
  :group 'pillion)

(defconst pillion-view--min-columns 40
  "With fewer columns, windows are not placed side by side.")
(defconst pillion-view--min-lines 6
  "With fewer lines, windows are not placed one above the other.")
(defconst pillion-view--max-coloured 1000000
  "Texts of more characters are shown without colours.")

(defvar pillion-diff-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'pillion-accept)
    (define-key map (kbd "C-c C-k") #'pillion-reject)
    (define-key map (kbd "C-c C-n") #'pillion-next-hunk)
    (define-key map (kbd "C-c C-p") #'pillion-previous-hunk)
    (define-key map (kbd "C-c C-d") #'pillion-drop-hunk)
    map)
  "Keys in the buffers of a proposal.")

(declare-function pillion-accept "pillion-diff" (&optional id))
(declare-function pillion-reject "pillion-diff" (&optional id))
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

(defun pillion-view-name (diff)
  "The file of DIFF as people say it."
  (let ((project (and (pillion-diff-buffer diff)
                      (buffer-live-p (pillion-diff-buffer diff))
                      (buffer-local-value 'default-directory (pillion-diff-buffer diff)))))
    (pillion-plain
     (if project
         (file-name-nondirectory (pillion-diff-path diff))
       (pillion-diff-path diff)))))

(defun pillion-view--remarks (diff)
  "What no line of DIFF can tell, as a text."
  (string-join
   (append (mapcar #'pillion-plain (pillion-diff-notes diff))
           (unless (pillion-diff-is-new diff)
             (pillion-text-remarks (pillion-diff-original diff) (pillion-diff-proposed diff)))
           (when (pillion-diff-is-lossy diff)
             (list "the file on disk is not UTF-8")))
   "; "))

(defun pillion-view--header (diff)
  "The header line of the proposal of DIFF."
  (let ((keys "C-c C-c accepts, C-c C-k rejects")
        (remarks (pillion-view--remarks diff)))
    (string-replace
     "%" "%%"
     (concat " " (propertize keys 'face 'bold)
             (format " | %s proposes %s" (pillion-plain (pillion-diff-agent diff))
                     (pillion-view-name diff))
             (unless (equal remarks "")
               (propertize (format " [%s]" remarks) 'face 'warning))))))

(defun pillion-view--original-header (diff)
  "The header line of the original of DIFF."
  (string-replace
   "%" "%%"
   (format " %s (%s)" (pillion-view-name diff)
           (cond ((pillion-diff-is-new diff) "new file")
                 ((let ((open (pillion-file-buffer (pillion-diff-path diff))))
                    (and open (buffer-modified-p open)))
                  "on disk; your buffer has unsaved changes")
                 (t "on disk")))))

;;; Buffers

(defun pillion-view--mode (diff)
  "The major mode for the file of DIFF, or nil."
  (let ((open (pillion-file-buffer (pillion-diff-path diff))))
    (if open
        (buffer-local-value 'major-mode open)
      ;; By the name alone: what the model wrote chooses nothing.
      (let ((mode (assoc-default (file-name-sans-versions (pillion-diff-path diff))
                                 auto-mode-alist #'string-match-p)))
        (and (symbolp mode) (fboundp mode) mode)))))

(defun pillion-view--colour (buffer mode)
  "Give BUFFER the colours of MODE, and nothing else that people do for files."
  (with-current-buffer buffer
    (when (and mode (< (buffer-size) pillion-view--max-coloured)
               (not (memq mode '(fundamental-mode image-mode archive-mode tar-mode
                                                  doc-view-mode doc-view-mode-maybe))))
      (let ((enable-local-variables nil)
            (inhibit-message t)
            (is-modified (buffer-modified-p)))
        (delay-mode-hooks
          (condition-case nil
              (let ((inhibit-read-only t))
                (funcall mode)
                (when font-lock-defaults
                  (font-lock-mode 1)))
            ;; Colours are no reason to show no diff.
            (error nil)))
        (setq buffer-file-name nil
              buffer-auto-save-file-name nil)
        (restore-buffer-modified-p is-modified)))))

(defun pillion-view--make-buffer (name diff text)
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
        (pillion-view--colour buffer (pillion-view--mode diff))
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

(defun pillion-view-make-buffers (diff)
  "Make the buffers of DIFF."
  (let ((original (and (not (pillion-diff-is-new diff))
                       (pillion-view--make-buffer "Original" diff (pillion-diff-original diff))))
        (buffer (pillion-view--make-buffer "Proposal" diff (pillion-diff-proposed diff))))
    (when original
      (with-current-buffer original
        (setq buffer-read-only t
              buffer-undo-list t
              header-line-format '(:eval (pillion-view--original-header pillion-diff--mine)))))
    (with-current-buffer buffer
      (setq header-line-format '(:eval (pillion-view--header pillion-diff--mine)))
      (add-hook 'after-change-functions #'pillion-view--changed nil t)
      (add-hook 'post-command-hook #'pillion-view--follow nil t))
    (setf (pillion-diff-original-buffer diff) original
          (pillion-diff-buffer diff) buffer)
    (pillion-view-compare diff)))

;;; What differs

(defun pillion-view--lines (buffer)
  "The lines of BUFFER."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n"))))

(defun pillion-view-line-position (buffer line)
  "Where LINE of BUFFER begins, counted from 0."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (if (and (> (forward-line line) 0)) (point-max) (point))))))

(defun pillion-view--paint (buffer line count face)
  "Draw COUNT lines of BUFFER from LINE on with FACE."
  (let* ((from (pillion-view-line-position buffer line))
         (to (pillion-view-line-position buffer (+ line count)))
         (overlay (make-overlay from (max to from) buffer)))
    (overlay-put overlay 'pillion t)
    (overlay-put overlay 'face face)))

(defun pillion-view-compare (diff)
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
      (setf (pillion-diff-hunks diff)
            (and (buffer-live-p original)
                 (pillion-hunks-between (pillion-view--lines original)
                                        (pillion-view--lines buffer))))
      (pcase-dolist (`(,old ,old-count ,new ,new-count) (pillion-diff-hunks diff))
        (pillion-view--paint original old old-count 'pillion-removed)
        (pillion-view--paint buffer new new-count 'pillion-added)))))

(defun pillion-view--changed (&rest _)
  "Compare again once nothing is typed for a moment."
  (let ((diff pillion-diff--mine))
    (when (and diff (not (memq (pillion-diff-refresh-timer diff) timer-list)))
      (setf (pillion-diff-refresh-timer diff)
            (run-at-time 0.2 nil #'pillion-view-compare diff)))))

(defun pillion-view--original-line (diff line)
  "The line of the original that stands for LINE of the proposal of DIFF."
  (let ((shift 0))
    (pcase-dolist (`(,_ ,old-count ,new ,new-count) (pillion-diff-hunks diff))
      (cond ((>= line (+ new new-count)) (setq shift (+ shift (- old-count new-count))))
            ((>= line new)
             (setq shift (- (min (- line new) (max (1- old-count) 0)) (- line new)
                            (- shift))))))
    (max 0 (+ line shift))))

(defun pillion-view--follow ()
  "Show the same place of the original."
  (let* ((diff pillion-diff--mine)
         (original (and diff (pillion-diff-original-buffer diff)))
         (window (and (buffer-live-p original) (get-buffer-window original))))
    (when (and window (eq (window-buffer (selected-window)) (current-buffer)))
      (set-window-point
       window
       (pillion-view-line-position
        original
        (pillion-view--original-line diff (1- (line-number-at-pos nil t))))))))

;;; Windows

(defun pillion-view-shown-p (diff)
  "Whether the proposal of DIFF is in a window that is drawn."
  (seq-some (lambda (window) (pillion-frame-drawn-p (window-frame window)))
            (get-buffer-window-list (pillion-diff-buffer diff) nil t)))

(defun pillion-view-focused ()
  "The proposal whose view has the focus, or nil."
  (buffer-local-value 'pillion-diff--mine (window-buffer (selected-window))))

(defun pillion-view--side-p (window)
  "Whether WINDOW is at a side of its frame, out of the way."
  (window-parameter window 'window-side))

(defun pillion-view--split (window)
  "A new window beside WINDOW, or below it, or nil if there is no room."
  (let* ((is-wide (>= (window-total-width window) (* 2 pillion-view--min-columns)))
         (is-high (>= (window-total-height window) (* 2 pillion-view--min-lines)))
         (beside (pcase pillion-diff-layout
                   ('stacked nil)
                   ('side-by-side t)
                   (_ is-wide)))
         (window-min-width 10)
         (window-min-height 3)
         (ignore-window-parameters t)
         (window-combination-resize nil))
    (and (or beside is-high)
         (ignore-errors (split-window window nil (if beside 'right 'below))))))

;;;###autoload
(defun pillion-diff-two-windows (original proposal)
  "Show ORIGINAL and PROPOSAL in the selected window, which is divided."
  (let* ((window (selected-window))
         (other (and original (pillion-view--split window))))
    (set-window-buffer window (if other original proposal))
    (when other
      (set-window-buffer other proposal))
    (select-window (or other window) 'norecord)))

;;;###autoload
(defun pillion-diff-ediff (original proposal)
  "Show ORIGINAL and PROPOSAL with Ediff.
In its control panel, the same keys decide as in the proposal."
  (require 'ediff)
  (if (not original)
      (pillion-diff-two-windows original proposal)
    (let ((diff (buffer-local-value 'pillion-diff--mine proposal)))
      (ediff-buffers
       original proposal
       (list (lambda ()
               (setf (pillion-diff-control diff) (current-buffer))
               (setq pillion-diff--mine diff)
               (setq-local ediff-keep-variants t)
               (pillion-diff-mode 1)
               (add-hook 'ediff-quit-hook
                         (lambda ()
                           (when pillion-diff--mine
                             (pillion-say "still pending: M-x pillion-diffs goes to it")))
                         nil t)))))))
(put 'pillion-diff-ediff 'pillion-takes-focus t)

(defun pillion-view--clear-frame (terminal)
  "Leave one window for a view, and TERMINAL if it stays; that window.
Nil if there is no room."
  (let* ((windows (seq-remove (lambda (it) (or (eq it terminal) (pillion-view--side-p it)))
                              (window-list nil 'no-mini)))
         (main (car (sort (copy-sequence windows)
                          (lambda (a b)
                            (> (* (window-total-width a) (window-total-height a))
                               (* (window-total-width b) (window-total-height b))))))))
    (when (and terminal (not main))
      (setq main (let ((width (window-total-width terminal))
                       (height (window-total-height terminal)))
                   (ignore-errors
                     (if (>= width (* 2 pillion-view--min-columns))
                         (split-window terminal (- (max pillion-view--min-columns (/ width 3))) 'left)
                       (and (>= height (* 2 pillion-view--min-lines))
                            (split-window terminal nil 'above)))))))
    (when main
      (dolist (it windows)
        (unless (eq it main)
          (let ((ignore-window-parameters t))
            (ignore-errors (delete-window it)))))
      (set-window-dedicated-p main nil)
      main)))

(defun pillion-view--go-to-first-hunk (diff)
  "Begin where something differs in DIFF."
  (let* ((hunk (car (pillion-diff-hunks diff)))
         (buffer (pillion-diff-buffer diff))
         (position (if hunk (pillion-view-line-position buffer (nth 2 hunk)) 1)))
    (dolist (window (get-buffer-window-list buffer nil t))
      (set-window-point window position))
    (with-current-buffer buffer
      (goto-char position))
    (when (buffer-live-p (pillion-diff-original-buffer diff))
      (let ((window (get-buffer-window (pillion-diff-original-buffer diff) t)))
        (when (and hunk window)
          (set-window-point window (pillion-view-line-position
                                    (pillion-diff-original-buffer diff) (nth 0 hunk))))))))

(defun pillion-view-show (diff is-wanted)
  "Show DIFF; IS-WANTED is non-nil if the person asked for it.
Nil if it cannot be shown now without disturbing them."
  (let* ((selected (selected-window))
         (terminal (and (not is-wanted) pillion-diff-keep-terminal-focus
                        (pillion-terminal-buffer-p (window-buffer selected))
                        selected)))
    (when (and (pillion-frame-drawn-p (selected-frame))
               (not (frame-parent))
               (not (window-minibuffer-p selected))
               (or is-wanted
                   (not (and terminal (symbolp pillion-diff-function)
                             (get pillion-diff-function 'pillion-takes-focus)))))
      (let ((config (current-window-configuration))
            (main (pillion-view--clear-frame terminal)))
        (when (and (not main) (not terminal))
          ;; Only windows at the sides: one of them has to do.
          (setq main selected))
        (if (not main)
            (progn (set-window-configuration config t t) nil)
          (setf (pillion-diff-frame diff) (selected-frame)
                (pillion-diff-config diff) config
                (pillion-diff-seen-revision diff) 0)
          (select-window main 'norecord)
          (condition-case error
              (funcall pillion-diff-function (pillion-diff-original-buffer diff)
                       (pillion-diff-buffer diff))
            (error
             (pillion-say "`pillion-diff-function' failed: %s" (error-message-string error))
             (when (window-live-p main)
               (select-window main 'norecord))
             (pillion-diff-two-windows (pillion-diff-original-buffer diff)
                                       (pillion-diff-buffer diff))))
          (pillion-view--go-to-first-hunk diff)
          (setf (pillion-diff-layout diff) (window-list nil 'no-mini)
                (pillion-diff-windows diff)
                (seq-filter (lambda (it)
                              (buffer-local-value 'pillion-diff--mine (window-buffer it)))
                            (pillion-diff-layout diff)))
          (when (window-live-p terminal)
            (select-window terminal 'norecord))
          t)))))

(defun pillion-view--untouched-p (diff)
  "Whether the windows of DIFF are as they were made."
  (let ((now (window-list (pillion-diff-frame diff) 'no-mini)))
    (and (null (seq-difference now (pillion-diff-layout diff) #'eq))
         (null (seq-difference (pillion-diff-layout diff) now #'eq))
         (seq-every-p (lambda (window)
                        (let ((buffer (window-buffer window)))
                          (or (eq diff (buffer-local-value 'pillion-diff--mine buffer))
                              ;; Its buffer was killed, and Emacs chose another.
                              (not (buffer-live-p (pillion-diff-buffer diff))))))
                      (pillion-diff-windows diff)))))

(defun pillion-view--restore (diff)
  "Give the frame of DIFF the configuration that it had."
  (let* ((frame (pillion-diff-frame diff))
         (selected (frame-selected-window frame))
         (stays (and (not (memq selected (pillion-diff-windows diff))) selected))
         (others (mapcar (lambda (it) (list it (window-buffer it) (window-point it) (window-start it)))
                         (seq-difference (window-list frame 'no-mini)
                                         (pillion-diff-windows diff) #'eq))))
    (with-selected-frame frame
      (set-window-configuration (pillion-diff-config diff) t t)
      (pcase-dolist (`(,window ,buffer ,point ,start) others)
        (when (and (window-live-p window) (eq (window-buffer window) buffer))
          (set-window-point window point)
          (set-window-start window start t)))
      ;; A terminal that was out of sight went on.
      (dolist (window (window-list frame 'no-mini))
        (when (and (not (assq window others))
                   (pillion-terminal-buffer-p (window-buffer window)))
          (set-window-point window (with-current-buffer (window-buffer window) (point))))))
    (when (window-live-p stays)
      (set-frame-selected-window frame stays 'norecord))))

(defun pillion-view--dismantle (diff)
  "Take the windows of DIFF away that still show it; the person changed the others."
  (dolist (window (pillion-diff-windows diff))
    (when (and (window-live-p window)
               (eq diff (buffer-local-value 'pillion-diff--mine (window-buffer window))))
      (condition-case nil
          (delete-window window)
        (error (switch-to-prev-buffer window 'kill))))))

(defun pillion-view--quit-ediff (diff)
  "End Ediff if DIFF is in it."
  (let ((control (pillion-diff-control diff)))
    (when (buffer-live-p control)
      (with-current-buffer control
        (setq pillion-diff--mine nil)
        (ignore-errors (ediff-really-quit nil))))
    (setf (pillion-diff-control diff) nil)))

(defun pillion-view-hide (diff)
  "Take the windows of DIFF away."
  (let ((is-untouched (and (frame-live-p (pillion-diff-frame diff))
                           (pillion-diff-config diff)
                           (or (pillion-diff-control diff)
                               (pillion-view--untouched-p diff)))))
    (pillion-view--quit-ediff diff)
    (when (pillion-diff-config diff)
      (if is-untouched
          (pillion-view--restore diff)
        (pillion-view--dismantle diff)))
    (setf (pillion-diff-config diff) nil
          (pillion-diff-windows diff) nil
          (pillion-diff-layout diff) nil)))

(defun pillion-view-remove (diff)
  "Take the windows and the buffers of DIFF away."
  (pillion-view-hide diff)
  (dolist (buffer (list (pillion-diff-buffer diff) (pillion-diff-original-buffer diff)))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (set-buffer-modified-p nil)
        (let ((kill-buffer-query-functions nil))
          (kill-buffer buffer))))))

(provide 'pillion-view)
;;; pillion-view.el ends here
