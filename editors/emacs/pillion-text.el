;;; pillion-text.el --- Texts that stay byte for byte the same  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A proposal is edited in a buffer in which lines end as Emacs has it.  Its
;; line endings and its byte order mark are kept in the coding system of the
;; buffer, where a person sees and can change them, and are put back when it is
;; accepted.  Where endings are mixed, each CR stays in the buffer as it is.

;;; Code:

(require 'pillion-core)

(defconst pillion-text-bom "\ufeff"
  "The byte order mark.")

(defun pillion-text-count (needle text)
  "Return the number of times that NEEDLE occurs in TEXT."
  (let ((at 0) (count 0))
    (while (setq at (string-search needle text at))
      (setq count (1+ count)
            at (+ at (length needle))))
    count))

(defun pillion-text-ending (text)
  "Return how lines of TEXT end: `dos', `mac', or else `unix'."
  (if (not (string-search "\r" text))
      'unix
    (let ((cr (pillion-text-count "\r" text))
          (lf (pillion-text-count "\n" text)))
      (cond ((= lf 0) 'mac)
            ((and (= cr lf) (= cr (pillion-text-count "\r\n" text))) 'dos)
            (t 'unix)))))

(defun pillion-text-decode (text)
  "TEXT as it is in a buffer, and its coding system, as a pair."
  (let* ((has-bom (string-prefix-p pillion-text-bom text))
         (text (if has-bom (substring text 1) text))
         (ending (pillion-text-ending text)))
    (cons (pcase ending
            ('dos (string-replace "\r\n" "\n" text))
            ('mac (string-replace "\r" "\n" text))
            (_ text))
          (coding-system-change-eol-conversion
           (if has-bom 'utf-8-with-signature 'utf-8) ending))))

(defun pillion-text-endings (buffer)
  "Return how lines end in the file of BUFFER."
  (let ((coding (buffer-local-value 'buffer-file-coding-system buffer)))
    (pcase (and coding (coding-system-eol-type coding))
      (1 "\r\n")
      (2 "\r")
      (_ "\n"))))

(defun pillion-text-encode (text buffer)
  "TEXT of BUFFER with the line endings that are kept beside it."
  (let ((ending (pillion-text-endings buffer)))
    (if (equal ending "\n") text (string-replace "\n" ending text))))

(defun pillion-text-of-buffer (buffer)
  "The whole text of BUFFER, as an agent would write it."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (let ((text (pillion-text-encode
                   (buffer-substring-no-properties (point-min) (point-max)) buffer)))
        (if (and buffer-file-coding-system
                 (eq (coding-system-base buffer-file-coding-system) 'utf-8-with-signature))
            (concat pillion-text-bom text)
          text)))))

(defun pillion-text-invalid-line (buffer)
  "The number of the first line of BUFFER that UTF-8 cannot hold, or nil."
  (with-current-buffer buffer
    (save-restriction
      (save-excursion
        (widen)
        (goto-char (point-min))
        (let ((case-fold-search nil))
          (and (re-search-forward pillion-not-text nil t)
               (line-number-at-pos)))))))

(defun pillion-text-fill (buffer text)
  "Put TEXT into BUFFER, leaving nothing to undo."
  (with-current-buffer buffer
    (let ((inhibit-read-only t)
          (inhibit-modification-hooks t)
          (decoded (pillion-text-decode text)))
      (setq buffer-undo-list t)
      (widen)
      (erase-buffer)
      (insert (car decoded))
      (setq buffer-file-coding-system (cdr decoded))
      (goto-char (point-min))
      (set-buffer-modified-p nil)
      (setq buffer-undo-list nil))))

(defun pillion-text-replace (buffer text)
  "Replace what is in BUFFER with TEXT, as a change that can be undone."
  (let ((decoded (pillion-text-decode text))
        (source (generate-new-buffer " *pillion text*")))
    (unwind-protect
        (progn
          (with-current-buffer source
            (insert (car decoded)))
          (with-current-buffer buffer
            (let ((inhibit-read-only t))
              (undo-boundary)
              (save-restriction
                (widen)
                (replace-buffer-contents source 0.2))
              (undo-boundary)
              (setq buffer-file-coding-system (cdr decoded))
              (set-buffer-modified-p nil))))
      (kill-buffer source))))

(defun pillion-text-remarks (original proposed)
  "Return how PROPOSED differs from ORIGINAL where the lines do not show it."
  (let* ((before (pillion-text-decode original))
         (after (pillion-text-decode proposed))
         (names ["LF" "CRLF" "CR"])
         (ending (lambda (it) (aref names (coding-system-eol-type (cdr it)))))
         (final (lambda (it) (string-suffix-p "\n" (car it)))))
    (delq nil
          (list
           (unless (or (equal (funcall ending before) (funcall ending after))
                       (not (string-search "\n" (car before))))
             (format "line endings: %s to %s" (funcall ending before) (funcall ending after)))
           (unless (eq (string-prefix-p pillion-text-bom original)
                       (string-prefix-p pillion-text-bom proposed))
             (if (string-prefix-p pillion-text-bom proposed) "adds a BOM" "removes the BOM"))
           (when (and (funcall final before) (not (funcall final after))
                      (not (equal proposed "")))
             "removes the final newline")))))

(provide 'pillion-text)
;;; pillion-text.el ends here
