;;; pillion-view.el --- The windows of a proposal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; How a proposal is shown and taken away again, with everything as it was then.
;; What is decided in it is the matter of pillion-diff.el.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-terminal)

(defvar ediff-keep-variants)
(defvar ediff-quit-hook)
(declare-function ediff-buffers "ediff" (buffer-a buffer-b &optional startup-hooks job-name))
(declare-function ediff-really-quit "ediff-util" (reverse-default-keep-variants))

(defconst pillion-view--min-columns 40
  "With fewer columns, windows are not placed side by side.")
(defconst pillion-view--min-lines 6
  "With fewer lines, windows are not placed one above the other.")

;;; Windows

(defun pillion-view-shown-p (diff)
  "Return non-nil if the proposal of DIFF is in a window that is drawn."
  (and (buffer-live-p (pillion-diff-buffer diff))
       (seq-some (lambda (window) (pillion-frame-drawn-p (window-frame window)))
                 (get-buffer-window-list (pillion-diff-buffer diff) nil t))))

(defun pillion-view-focused ()
  "The proposal whose view has the focus, or nil."
  (buffer-local-value 'pillion-diff--mine (window-buffer (selected-window))))

(defun pillion-view--side-p (window)
  "Return non-nil if WINDOW is at a side of its frame, out of the way."
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
         (position (if hunk (pillion-proposal-line-position buffer (nth 2 hunk)) 1)))
    (dolist (window (get-buffer-window-list buffer nil t))
      (set-window-point window position))
    (with-current-buffer buffer
      (goto-char position))
    (when (buffer-live-p (pillion-diff-original-buffer diff))
      (let ((window (get-buffer-window (pillion-diff-original-buffer diff) t)))
        (when (and hunk window)
          (set-window-point window (pillion-proposal-line-position
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
      (let ((config (pillion-view--windows))
            (main (pillion-view--clear-frame terminal)))
        (when (and (not main) (not terminal))
          ;; Only windows at the sides: one of them has to do.
          (setq main selected))
        (if (not main)
            (progn (pillion-view--set-windows config) nil)
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
          ;; Not earlier: an agent waits for the answer, and this takes time for long texts.
          (pillion-proposal-draw diff)
          (pillion-view--go-to-first-hunk diff)
          (setf (pillion-diff-arrangement diff) (window-list nil 'no-mini)
                (pillion-diff-windows diff)
                (seq-filter (lambda (it)
                              (buffer-local-value 'pillion-diff--mine (window-buffer it)))
                            (pillion-diff-arrangement diff)))
          (when (window-live-p terminal)
            (select-window terminal 'norecord))
          (setf (pillion-diff-came-at diff) (and (not is-wanted) (not terminal) (float-time)))
          t)))))

(defun pillion-view--windows ()
  "The windows of this frame, and the buffers that each of them showed before."
  (cons (current-window-configuration)
        (mapcar (lambda (window)
                  (list window (window-prev-buffers window) (window-next-buffers window)))
                (window-list nil 'no-mini))))

(defun pillion-view--set-windows (windows)
  "Give the frame the WINDOWS that `pillion-view--windows' returned."
  (set-window-configuration (car windows) t t)
  ;; A configuration leaves these out.
  (pcase-dolist (`(,window ,before ,after) (cdr windows))
    (when (window-live-p window)
      (set-window-prev-buffers window (seq-filter (lambda (it) (buffer-live-p (car it))) before))
      (set-window-next-buffers window (seq-filter #'buffer-live-p after)))))

(defun pillion-view--untouched-p (diff)
  "Return non-nil if some windows of DIFF are left and none was rearranged."
  (let ((now (window-list (pillion-diff-frame diff) 'no-mini)))
    (and (seq-some #'window-live-p (pillion-diff-windows diff))
         (null (seq-difference now (pillion-diff-arrangement diff) #'eq))
         (null (seq-difference (pillion-diff-arrangement diff)
                               (append now (pillion-diff-windows diff)) #'eq))
         (seq-every-p (lambda (window)
                        (let ((buffer (window-buffer window)))
                          (or (eq diff (buffer-local-value 'pillion-diff--mine buffer))
                              ;; Its buffer was killed, and Emacs chose another.
                              (not (buffer-live-p (pillion-diff-buffer diff))))))
                      (seq-filter #'window-live-p (pillion-diff-windows diff))))))

(defun pillion-view--restore (diff)
  "Give the frame of DIFF the configuration that it had."
  (let* ((frame (pillion-diff-frame diff))
         (selected (frame-selected-window frame))
         (stays (and (not (memq selected (pillion-diff-windows diff))) selected))
         (others (mapcar (lambda (it) (list it (window-buffer it) (window-point it) (window-start it)))
                         (seq-difference (window-list frame 'no-mini)
                                         (pillion-diff-windows diff) #'eq))))
    (with-selected-frame frame
      (pillion-view--set-windows (pillion-diff-config diff))
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
  "Close the windows that still show DIFF; the person has changed the others."
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
  "Close the windows of DIFF."
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
          (pillion-diff-arrangement diff) nil)))

(defun pillion-view-go-to (diff)
  "Bring the person to DIFF."
  (let ((window (and (pillion-view-shown-p diff)
                     (get-buffer-window (pillion-diff-buffer diff) 'visible)))
        (here (pillion-view-focused)))
    (if window
        (progn (select-frame-set-input-focus (window-frame window))
               (select-window window))
      (dolist (other (cons diff pillion-diff--pending))
        (when (and (pillion-diff-config other)
                   (or (eq other diff) (eq other here)
                       (eq (pillion-diff-frame other) (selected-frame))))
          (pillion-view-hide other)))
      (unless (pillion-view-show diff t)
        (user-error "Pillion: the diff cannot be shown in this frame")))))

(defun pillion-view-remove (diff)
  "Close the windows and the buffers of DIFF."
  (pillion-view-hide diff)
  (dolist (buffer (list (pillion-diff-buffer diff) (pillion-diff-original-buffer diff)))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (set-buffer-modified-p nil)
        (let ((kill-buffer-query-functions nil))
          (kill-buffer buffer))))))

(provide 'pillion-view)
;;; pillion-view.el ends here
