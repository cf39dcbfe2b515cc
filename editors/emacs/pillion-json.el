;;; pillion-json.el --- JSON with NUL characters before Emacs 30  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Before Emacs 30, the parser refuses NUL in a string, which texts of files may
;; have.  There, another character that is nowhere in the message stands in for
;; it while the message is parsed.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)

(defun pillion-json--parse ()
  "Parse the message at point as jsonrpc.el does."
  (json-parse-buffer :object-type 'plist :null-object nil :false-object :json-false))

(defun pillion-json--stand-in ()
  "A character that is nowhere after point, escaped or not."
  (let ((char #xe000) (case-fold-search t))
    (while (or (save-excursion (search-forward (string char) nil t))
               (save-excursion (search-forward (format "\\u%04x" char) nil t)))
      (setq char (1+ char)))
    char))

(defun pillion-json--restore (value char)
  "VALUE with NUL in place of CHAR in all strings."
  (cond ((stringp value) (string-replace (string char) "\0" value))
        ((vectorp value) (vconcat (mapcar (lambda (it) (pillion-json--restore it char)) value)))
        ((consp value) (mapcar (lambda (it) (pillion-json--restore it char)) value))
        (t value)))

(defun pillion-json--read-with-nul ()
  "Parse the message at point, in which NUL is escaped somewhere."
  (let ((char (pillion-json--stand-in)))
    (save-excursion
      ;; Both are of one length, and a backslash takes what follows along.
      (while (re-search-forward "\\\\\\(?:\\(u0000\\)\\|.\\)" nil t)
        (when (match-beginning 1)
          (replace-match (format "\\\\u%04x" char) t))))
    (pillion-json--restore (pillion-json--parse) char)))

(defun pillion-json-read ()
  "Parse the message at point."
  (if (save-excursion (search-forward "\\u0000" nil t))
      (pillion-json--read-with-nul)
    (pillion-json--parse)))

(defun pillion-json-needed-p ()
  "Return non-nil if the parser of this Emacs refuses NUL."
  (not (ignore-errors (json-parse-string "\"\\u0000\""))))

(defconst pillion-json--long 65536
  "More bytes than this are put together before they are looked at.")

(defun pillion-json--missing (input)
  "Return the number of bytes that are missing from the last message of INPUT.
Zero if few are missing."
  (let ((at 0) (missing 0))
    (while (string-match "Content-Length: *\\([0-9]+\\)\r\n\\(?:[^\r\n]+\r\n\\)*\r\n" input at)
      (setq at (match-end 0)
            missing (- (string-to-number (match-string 1 input))
                       (string-bytes (substring input at)))))
    (if (> missing pillion-json--long) missing 0)))

(defun pillion-json-filter (filter)
  "FILTER for a process, with NUL in its messages, and quick with long ones.
It would look at all that is there for each piece that comes."
  (let ((pieces nil) (missing 0))
    (lambda (process input)
      (setq missing (if pieces
                        (- missing (string-bytes input))
                      (pillion-json--missing input)))
      (push input pieces)
      (when (<= missing 0)
        (let ((whole (apply #'concat (nreverse pieces))))
          (setq pieces nil)
          (cl-letf (((symbol-function 'jsonrpc--json-read) #'pillion-json-read))
            (funcall filter process whole)))))))

(provide 'pillion-json)
;;; pillion-json.el ends here
