;;; channel.el --- Answers the questions of a test  -*- lexical-binding: t; -*-

;; Each line that comes is a number, a space and an expression as it would be printed.  The answer is a line of
;; JSON: [number, value], or [number, null, error].  Emacs answers whenever it waits for keys, whatever it does.

(require 'json)

(defvar test-channel--input "")

(defun test-channel--value (expression)
  "The value of EXPRESSION, as it is in the buffer of the selected window."
  (condition-case error
      (with-current-buffer (window-buffer (selected-window))
        (save-match-data (list (eval (read expression) t))))
    (error (list nil (error-message-string error)))))

(defun test-channel--answer (process line)
  (let* ((space (string-search " " line))
         (number (string-to-number (substring line 0 space)))
         (answer (cons number (test-channel--value (substring line (1+ space))))))
    (process-send-string process (concat (json-encode (vconcat answer)) "\n"))))

(defun test-channel--filter (process input)
  (setq test-channel--input (concat test-channel--input input))
  (let (end)
    (while (setq end (string-search "\n" test-channel--input))
      (let ((line (substring test-channel--input 0 end)))
        (setq test-channel--input (substring test-channel--input (1+ end)))
        (test-channel--answer process line)))))

(defun test-channel-open (socket)
  (make-network-process :name "test-channel" :family 'local :service socket :coding 'utf-8-unix :noquery t
                        :filter #'test-channel--filter))
