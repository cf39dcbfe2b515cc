;;; pillion-context.el --- What agents are shown  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Open files, cursor and region, sent when they change.  Real files count
;; alone: while a terminal, a diff or the minibuffer has the focus, it is the
;; file that had it before, with its region.  Emacs itself keeps that region.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-others)
(require 'pillion-roots)

(declare-function extract-rectangle-bounds "rect" (start end))

(defconst pillion-context--delay 0.05
  "Seconds of rest before changes are read.")

(defconst pillion-context--shown 10
  "The number of files that agents see.")

(defconst pillion-context--folders 16
  "The number of folders whose projects count.")

(defconst pillion-context--max-selected 16400
  "Agents see 16,384 characters; a few more show that the text is truncated.")

(defvar pillion-context--times (make-hash-table :test 'eq :weakness 'key)
  "By buffer: when its file was focused last, in milliseconds.")

(defvar pillion-context--last-time 0)

(defvar pillion-context--window nil
  "The window in which the person was in a file last.")

(defvar pillion-context--buffer nil
  "The buffer that it showed, perhaps an indirect one.")

(defvar pillion-context--files-changed t)
(defvar pillion-context--projects-changed nil)
(defvar pillion-context--list nil
  "The buffers to report, and their files, the one focused last first.")
(defvar pillion-context--sent nil)
(defvar pillion-context--idle-timer nil)
(defvar pillion-context--timer nil)

(defun pillion-context--touch (buffer)
  "Record that the file of BUFFER has the focus now."
  ;; Agents ignore the order of files with equal times.
  (setq pillion-context--last-time
        (max (truncate (* 1000 (float-time))) (1+ pillion-context--last-time)))
  (puthash (pillion-base buffer) pillion-context--last-time pillion-context--times))

(defun pillion-context--seed ()
  "Begin with the buffers that were in use before."
  (clrhash pillion-context--times)
  (let ((now (- (truncate (* 1000 (float-time))) 1000)))
    (dolist (buffer (buffer-list))
      (when (and (pillion-file buffer) (not (buffer-base-buffer buffer)))
        (puthash buffer (setq now (1- now)) pillion-context--times)))))

(defun pillion-context--newest ()
  "The buffers of files, the one focused last first."
  (let ((all nil))
    (maphash (lambda (buffer time) (push (cons time buffer) all)) pillion-context--times)
    (mapcar #'cdr (sort all (lambda (a b) (> (car a) (car b)))))))

(defun pillion-context--look-at-files ()
  "Record which files to report."
  (let ((all (pillion-context--newest)) (shown nil))
    (while (and all (< (length shown) pillion-context--shown))
      (let* ((buffer (pop all))
             (path (pillion-file-on-disk buffer)))
        (when path
          (push (cons buffer path) shown))))
    (setq pillion-context--list (nreverse shown))))

(defun pillion-context-files ()
  "The files whose projects count, one of each folder.
The one focused last is first."
  (let ((all (pillion-context--newest)) (files nil) (folders nil))
    (while (and all (< (length files) pillion-context--folders))
      (let* ((path (pillion-file (pop all)))
             (folder (and path (file-name-directory path))))
        (when (and path (not (member folder folders)))
          (push folder folders)
          (push path files))))
    (or (nreverse files)
        (let ((here (pillion-file (window-buffer (selected-window)))))
          (and here (list here))))))

;;; Places

(defun pillion-context--position (position)
  "POSITION of the current buffer as the protocol has it, in UTF-16 units."
  (save-excursion
    (goto-char position)
    (let* ((start (line-beginning-position))
           (wide (how-many "[\U00010000-\U0010FFFF]" start position)))
      (list :line (1- (line-number-at-pos position t))
            :character (+ (- position start) wide)))))

(defvar evil-visual-beginning)
(defvar evil-visual-end)
(defvar evil-visual-selection)

(defun pillion-context--bounds (point)
  "The parts of the region of the current buffer, in which POINT is."
  (cond
   ((and (bound-and-true-p evil-local-mode)
         (eq (bound-and-true-p evil-state) 'visual)
         (markerp evil-visual-beginning) (marker-position evil-visual-beginning))
    (let ((from (marker-position evil-visual-beginning))
          (to (marker-position evil-visual-end)))
      (if (eq evil-visual-selection 'block)
          (extract-rectangle-bounds from to)
        (list (cons from to)))))
   ((not (and transient-mark-mode mark-active (mark t))) nil)
   ((= point (mark t)) nil)
   ((bound-and-true-p rectangle-mark-mode)
    (extract-rectangle-bounds (min point (mark t)) (max point (mark t))))
   (t (list (cons (min point (mark t)) (max point (mark t)))))))

(defun pillion-context--text (bounds)
  "The text of BOUNDS, and no more than agents are shown."
  (let ((text "") (is-first t))
    (pcase-dolist (`(,from . ,to) bounds)
      (when (< (length text) pillion-context--max-selected)
        (setq text (concat text (unless is-first "\n")
                           (buffer-substring-no-properties
                            from (min to (+ from pillion-context--max-selected))))
              is-first nil)))
    text))

(defun pillion-context-selection (buffer point)
  "Return the selection in BUFFER, in which POINT is: text and place, or nil."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (let* ((bounds (pillion-context--bounds point))
             (text (and bounds (pillion-context--text bounds))))
        (unless (member text '(nil ""))
          (let ((ending (pcase (and buffer-file-coding-system
                                    (coding-system-eol-type buffer-file-coding-system))
                          (1 "\r\n") (2 "\r") (_ "\n"))))
            (list (pillion-valid (string-replace "\n" ending text))
                  (list :start (pillion-context--position (caar bounds))
                        :end (pillion-context--position (cdar (last bounds)))))))))))

(defun pillion-context-point (buffer)
  "Where the person is, or was, in BUFFER."
  (cond ((eq buffer (window-buffer (selected-window))) (window-point (selected-window)))
        ((and (window-live-p pillion-context--window)
              (eq (window-buffer pillion-context--window) buffer))
         (window-point pillion-context--window))
        (t (with-current-buffer buffer (point)))))

(defun pillion-context--complete (entry)
  "Return the report of ENTRY, the file that has the focus or had it last."
  (let* ((buffer (if (and (buffer-live-p pillion-context--buffer)
                          (eq (pillion-base pillion-context--buffer) (car entry)))
                     pillion-context--buffer
                   (car entry)))
         (point (pillion-context-point buffer))
         (selection (pillion-context-selection buffer point)))
    `( :active t
       :position ,(with-current-buffer buffer
                    (save-restriction (widen) (pillion-context--position point)))
       ,@(and selection
              `(:selectedText ,(car selection) :selection ,(cadr selection))))))

;;; Sending

(defun pillion-context--params ()
  "Return the report to Pillion."
  (let ((is-first t))
    `( :openFiles
       ,(vconcat
         (mapcar (lambda (entry)
                   `( :uri ,(pillion-uri (cdr entry))
                      :lastFocused ,(gethash (car entry) pillion-context--times 0)
                      ,@(when is-first
                          (setq is-first nil)
                          (pillion-context--complete entry))))
                 (seq-filter (lambda (entry) (buffer-live-p (car entry)))
                             pillion-context--list)))
       ,@(unless (eq pillion-trust 'unset)
           (list :isTrusted (if pillion-trust t :json-false))))))

(defun pillion-context--note-focus ()
  "Record which file has the focus now."
  (let* ((window (selected-window)) (buffer (window-buffer window)))
    (when (and (not (window-minibuffer-p window)) (pillion-file buffer))
      (unless (and (eq (pillion-base buffer) (caar pillion-context--list))
                   (not pillion-context--files-changed))
        (when (pillion-file-on-disk buffer)
          (unless (eq (pillion-base buffer) (caar pillion-context--list))
            (pillion-context--touch buffer))
          (setq pillion-context--files-changed t)))
      (setq pillion-context--window window
            pillion-context--buffer buffer))))

(defun pillion-context-look ()
  "Send what changed."
  (when (pillion-client-running-p)
    (pillion-context--note-focus)
    (when pillion-context--files-changed
      (setq pillion-context--files-changed nil)
      (pillion-context--look-at-files)
      (pillion-roots-refresh pillion-context--projects-changed)
      (setq pillion-context--projects-changed nil))
    (let ((params (pillion-context--params)))
      (unless (equal params pillion-context--sent)
        (when (pillion-client-notify :pillion/didChangeContext params)
          (setq pillion-context--sent params))))))

(defun pillion-context-flush ()
  "Send what changed, and wait until Pillion knows the roots.
An agent may start as soon as a file is open."
  (pillion-context-look)
  (pillion-roots-await))

(defun pillion-context--schedule (&rest _)
  "Check soon: something changed, perhaps not through a key."
  (unless (memq pillion-context--timer timer-list)
    (setq pillion-context--timer
          (run-at-time pillion-context--delay nil #'pillion-context-look))))

(defun pillion-context--files-may-differ (&rest _)
  "Check the files again."
  (setq pillion-context--files-changed t)
  (pillion-context--schedule))

(defun pillion-context--projects-may-differ (&rest _)
  "Check the files and their projects again."
  (setq pillion-context--projects-changed t)
  (pillion-context--files-may-differ))

(defun pillion-context--report-sync (saved)
  "Report that the current buffer and its file are the same now.
SAVED is t if the person wrote the file: Pillion tells by that what they
save apart from what agents write."
  (let ((path (pillion-file (current-buffer))))
    (when (and path (pillion-client-running-p))
      (pillion-client-notify :pillion/didSync
                             (list :uri (pillion-uri path) :saved saved)))))

(defun pillion-context--saved ()
  "The current buffer was saved, by the person or by another program."
  (pillion-context--report-sync (if (pillion-others-p) :json-false t)))

(defun pillion-context--read ()
  "The file of the current buffer was read again."
  (pillion-context--report-sync :json-false))

(defconst pillion-context--hooks
  '((window-selection-change-functions . pillion-context--schedule)
    (window-buffer-change-functions . pillion-context--files-may-differ)
    (find-file-hook . pillion-context--files-may-differ)
    (after-set-visited-file-name-hook . pillion-context--projects-may-differ)
    (after-save-hook . pillion-context--projects-may-differ)
    (after-save-hook . pillion-context--saved)
    (after-revert-hook . pillion-context--read)
    (kill-buffer-hook . pillion-context--files-may-differ)))

(defun pillion-context-attach ()
  "Start reporting what the person does."
  (pillion-context--seed)
  (setq pillion-context--sent nil
        pillion-context--list nil
        pillion-context--files-changed t)
  (pcase-dolist (`(,hook . ,function) pillion-context--hooks)
    (add-hook hook function))
  ;; Runs each time when the person has done something and rests.
  (setq pillion-context--idle-timer
        (run-with-idle-timer pillion-context--delay t #'pillion-context-look))
  (pillion-context-look))

(defun pillion-context-detach ()
  "Stop reporting."
  (pcase-dolist (`(,hook . ,function) pillion-context--hooks)
    (remove-hook hook function))
  (when (timerp pillion-context--idle-timer)
    (cancel-timer pillion-context--idle-timer)))

(setq pillion-roots-files-function #'pillion-context-files)
(add-hook 'pillion-started-hook #'pillion-context-attach)
(add-hook 'pillion-stopped-hook #'pillion-context-detach)

(provide 'pillion-context)
;;; pillion-context.el ends here
