;;; pillion-written.el --- What agents wrote, in its buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What agents have written and nobody has looked at, marked in the buffers of
;; these files: the lines that are new, the lines that were there before, and the
;; way from hunk to hunk.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-reload)

(defvar pillion-written--unseen (make-hash-table :test #'equal)
  "By the true name of a file, the hunks that nobody has looked at.")

(defvar-local pillion-written--marks nil
  "The overlays at the hunks of the buffer.")
(put 'pillion-written--marks 'permanent-local t)

(defun pillion-written-hunks (buffer)
  "The hunks of the file of BUFFER that nobody has looked at."
  (let ((name (buffer-local-value 'buffer-file-truename buffer)))
    (and name (gethash (expand-file-name name) pillion-written--unseen))))

(defun pillion-written--lines (hunk)
  "The first line of HUNK in its file, and how many they are."
  (let* ((lines (plist-get hunk :lines)) (start (plist-get lines :start)))
    (list start (- (plist-get lines :end) start))))

(defun pillion-written--removed (hunk from)
  "The lines that were there before HUNK, to be shown at FROM.
Nil if none is known: another hunk says what was there."
  (let* ((before (append (plist-get hunk :before) nil))
         (more (- (plist-get hunk :removed) (length before)))
         (lines (append before
                        (when (> more 0)
                          (list (format "… %d more line%s" more (if (> more 1) "s" ""))))))
         (text (mapconcat (lambda (it) (concat it "\n")) lines "")))
    (when before
      (propertize (save-excursion
                    (goto-char from)
                    (if (bolp) text (concat "\n" (string-remove-suffix "\n" text))))
                  'face 'pillion-removed))))

(defun pillion-written--mark (hunk place)
  "Mark HUNK, which is at PLACE of the current buffer."
  (let ((overlay (make-overlay (car place) (cdr place))))
    (overlay-put overlay 'pillion-before (pillion-written--removed hunk (car place)))
    (pillion-written--dress overlay t)
    (pillion-written--tie overlay)
    overlay))

(defun pillion-written--dress (mark is-there)
  "Show MARK if the text IS-THERE that it is about."
  (overlay-put mark 'face (and is-there 'pillion-added))
  (overlay-put mark 'before-string (and is-there (overlay-get mark 'pillion-before))))

(defun pillion-written--text (mark length)
  "The text from the beginning of MARK on, of this LENGTH."
  (let ((from (overlay-start mark)))
    (buffer-substring-no-properties from (min (+ from length) (point-max)))))

(defun pillion-written--tie (mark)
  "Have the text below MARK know it.
That goes along with what is cut out, and comes back with it."
  (let ((from (overlay-start mark)))
    (overlay-put mark 'pillion-length (- (overlay-end mark) from))
    ;; Where lines are only gone, by the one that follows.
    (overlay-put mark 'pillion-text
                 (pillion-written--text mark (- (max (overlay-end mark)
                                                     (save-excursion
                                                       (goto-char from)
                                                       (line-end-position)))
                                                from)))
    (add-hook 'after-change-functions #'pillion-written--come-back nil t)
    (when (< from (point-max))
      (with-silent-modifications
        (put-text-property from (1+ from) 'pillion-mark mark)))))

(defun pillion-written--come-back (from to _length)
  "Move overlays to the text of theirs that was put between FROM and TO."
  (when undo-in-progress
    (add-hook 'post-command-hook #'pillion-written--look-again nil t))
  (let ((at from))
    (while (setq at (text-property-not-all at to 'pillion-mark nil))
      (let ((mark (get-text-property at 'pillion-mark)))
        (when (and (memq mark pillion-written--marks)
                   (eql (overlay-start mark) (overlay-end mark)))
          (move-overlay mark at (min (+ at (overlay-get mark 'pillion-length)) (point-max)))))
      (setq at (1+ at)))))

(defun pillion-written--look-again ()
  "Something was undone: an older text than the file's may have other lines."
  (remove-hook 'post-command-hook #'pillion-written--look-again t)
  (save-restriction
    (widen)
    (dolist (mark (seq-filter #'overlay-start pillion-written--marks))
      (let ((text (overlay-get mark 'pillion-text)))
        (pillion-written--dress mark (equal text (pillion-written--text mark (length text))))))))

(defun pillion-written--draw (buffer)
  "Mark the hunks of BUFFER.
Lines are those of the file: where the person has changed some, the
marks of before have moved with the text."
  (let ((hunks (pillion-written-hunks buffer)))
    (with-current-buffer buffer
      (unless (and hunks pillion-written--marks (buffer-modified-p))
        (mapc #'delete-overlay pillion-written--marks)
        (setq pillion-written--marks
              (when (and hunks (not (buffer-modified-p)) (verify-visited-file-modtime buffer))
                (save-restriction
                  (widen)
                  (seq-mapn #'pillion-written--mark hunks
                            (pillion-proposal-places
                             buffer (mapcar #'pillion-written--lines hunks))))))))))

(defun pillion-written-show (list)
  "Mark in all buffers what nobody has looked at, as LIST has it.
It is what the program says of turns."
  (clrhash pillion-written--unseen)
  (when pillion-marks
    (seq-doseq (turn list)
      (seq-doseq (file (plist-get turn :changes))
        (when (eq t (plist-get file :isUnseen))
          (let ((path (plist-get file :path)))
            (puthash path (sort (append (plist-get file :hunks)
                                        (gethash path pillion-written--unseen))
                                (lambda (a b) (< (car (pillion-written--lines a))
                                                 (car (pillion-written--lines b)))))
                     pillion-written--unseen))))))
  (mapc #'pillion-written--draw (buffer-list)))

(defun pillion-written--go (is-there order)
  "Go to the first hunk of the buffer, in this ORDER, for which IS-THERE."
  (when (pillion-reload-now (current-buffer))
    (pillion-written--draw (current-buffer)))
  (let ((places (seq-filter is-there
                            (mapcar #'overlay-start
                                    (seq-filter (lambda (it) (overlay-get it 'face))
                                                pillion-written--marks)))))
    (unless places
      (user-error (if (verify-visited-file-modtime)
                      "Pillion: no more unseen changes here.  Hint: M-x pillion-changes"
                    "Pillion: the file has changed on disk.  Hint: M-x revert-buffer")))
    (push-mark)
    (goto-char (car (sort places order)))))

;;;###autoload
(defun pillion-next-change ()
  "Go to the next hunk here that an agent has written and nobody has seen."
  (interactive)
  (pillion-written--go (lambda (it) (> it (point))) #'<))

;;;###autoload
(defun pillion-previous-change ()
  "Go to the previous hunk here that an agent has written and nobody has seen."
  (interactive)
  (pillion-written--go (lambda (it) (< it (point))) #'>))

(add-hook 'pillion-stopped-hook (lambda () (pillion-written-show nil)))

(provide 'pillion-written)
;;; pillion-written.el ends here
