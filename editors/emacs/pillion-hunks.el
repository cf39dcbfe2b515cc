;;; pillion-hunks.el --- What differs between two texts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The program compares texts; here, its hunks become lines of buffers.  A hunk
;; is a list (OLD OLD-COUNT NEW NEW-COUNT): so many lines from the line OLD on,
;; counted from 0, became so many from the line NEW on.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-text)

(defun pillion-hunks--lines (range text)
  "The first line of RANGE of TEXT in a buffer, and how many they are."
  (let ((start (plist-get range :start)) (end (plist-get range :end)))
    ;; To the program, a text in which CR alone ends lines is one line.
    (if (and (< start end) (eq (pillion-text-ending text) 'mac))
        (list start (1+ (pillion-text-count "\r" text)))
      (list start (- end start)))))

(defun pillion-hunks-read (hunks original text)
  "HUNKS of the program's, from ORIGINAL to TEXT."
  (mapcar (lambda (it)
            (append (pillion-hunks--lines (plist-get it :before) original)
                    (pillion-hunks--lines (plist-get it :after) text)))
          hunks))

(defun pillion-hunks--request (original text)
  "Return the request that compares ORIGINAL with TEXT."
  (list :original original :content (pillion-valid text)))

(defun pillion-hunks-ask (original text answer)
  "Compare ORIGINAL with TEXT, then call ANSWER with the hunks."
  (pillion-client-ask :pillion/hunks (pillion-hunks--request original text)
                      (lambda (result)
                        (when result
                          (funcall answer (pillion-hunks-read (plist-get result :hunks)
                                                              original text))))))

(defun pillion-hunks-now (original text)
  "Compare ORIGINAL with TEXT, and wait for the hunks."
  (pillion-hunks-read
   (plist-get (pillion-client-ask-now :pillion/hunks (pillion-hunks--request original text))
              :hunks)
   original text))

(provide 'pillion-hunks)
;;; pillion-hunks.el ends here
