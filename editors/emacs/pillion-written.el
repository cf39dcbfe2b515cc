;;; pillion-written.el --- What agents wrote, in its buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What agents have written and nobody has looked at, marked in the buffers of
;; these files: the lines that are new, the lines that were there before, and the
;; way from hunk to hunk.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)

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
  "The lines that were there before HUNK, to be shown at FROM."
  (let* ((before (append (plist-get hunk :before) nil))
         (more (- (plist-get hunk :removed) (length before)))
         (lines (append before (when (> more 0) (list (format "… %d more lines" more)))))
         (text (mapconcat (lambda (it) (concat it "\n")) lines "")))
    (propertize (save-excursion
                  (goto-char from)
                  (if (bolp) text (concat "\n" (string-remove-suffix "\n" text))))
                'face 'pillion-removed)))

(defun pillion-written--mark (hunk place)
  "Mark HUNK, which is at PLACE of the current buffer."
  (let ((overlay (make-overlay (car place) (cdr place))))
    (overlay-put overlay 'face 'pillion-added)
    (unless (eql 0 (plist-get hunk :removed))
      (overlay-put overlay 'before-string (pillion-written--removed hunk (car place))))
    overlay))

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

(defun pillion-written--go (places)
  "Go to the first of PLACES."
  (unless places
    (user-error (if (verify-visited-file-modtime)
                    "Pillion: no more unseen changes here.  Hint: M-x pillion-changes"
                  "Pillion: the file has changed on disk.  Hint: M-x revert-buffer")))
  (push-mark)
  (goto-char (car places)))

(defun pillion-written--places (is-there order)
  "Where hunks of the buffer begin for which IS-THERE, in this ORDER."
  (sort (seq-filter is-there (mapcar #'overlay-start pillion-written--marks)) order))

;;;###autoload
(defun pillion-next-change ()
  "Go to the next hunk here that an agent has written and nobody has seen."
  (interactive)
  (pillion-written--go (pillion-written--places (lambda (it) (> it (point))) #'<)))

;;;###autoload
(defun pillion-previous-change ()
  "Go to the previous hunk here that an agent has written and nobody has seen."
  (interactive)
  (pillion-written--go (pillion-written--places (lambda (it) (< it (point))) #'>)))

(add-hook 'pillion-stopped-hook (lambda () (pillion-written-show nil)))

(provide 'pillion-written)
;;; pillion-written.el ends here
