;;; pillion-diagnostics.el --- The problems that Emacs shows  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What agents get when they ask for problems: those of Flymake, and so those of
;; Eglot, and those of Flycheck.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-context)

(declare-function flymake-diagnostics "flymake" (&optional beg end))
(declare-function flymake-diagnostic-beg "flymake" (diag))
(declare-function flymake-diagnostic-end "flymake" (diag))
(declare-function flymake-diagnostic-type "flymake" (diag))
(declare-function flymake-diagnostic-text "flymake" (diag &optional parts))
(declare-function flymake-diagnostic-backend "flymake" (diag))
(declare-function flycheck-error-level "ext:flycheck" (error))
(declare-function flycheck-error-message "ext:flycheck" (error))
(declare-function flycheck-error-checker "ext:flycheck" (error))
(declare-function flycheck-error-region-for-mode "ext:flycheck" (error mode))
(declare-function flycheck-error-id "ext:flycheck" (error))

(defconst pillion-diagnostics--max 1000
  "Agents get no more, errors first.")

(defun pillion-diagnostics--severity (type)
  "The severity of a diagnostic of TYPE, from 1 for an error to 4 for a hint."
  (pcase (or (and (symbolp type) (get type 'flymake-category)) type)
    ((or :error 'flymake-error 'error) 1)
    ((or :warning 'flymake-warning 'warning) 2)
    (_ 3)))

(defun pillion-diagnostics--make (beg end severity text source code)
  "A diagnostic of the current buffer from BEG to END.
It has SEVERITY, TEXT, and perhaps SOURCE and CODE."
  `( :range (:start ,(pillion-context--position beg) :end ,(pillion-context--position end))
     :severity ,severity
     :message ,(pillion-valid (or text ""))
     ,@(and source `(:source ,(pillion-valid (format "%s" source))))
     ,@(and code `(:code ,(pillion-valid (format "%s" code))))))

(defun pillion-diagnostics--flymake ()
  "The diagnostics of Flymake in the current buffer."
  (mapcar (lambda (it)
            (pillion-diagnostics--make
             (flymake-diagnostic-beg it) (flymake-diagnostic-end it)
             (pillion-diagnostics--severity (flymake-diagnostic-type it))
             (flymake-diagnostic-text it) (flymake-diagnostic-backend it) nil))
          (seq-filter (lambda (it) (integer-or-marker-p (flymake-diagnostic-beg it)))
                      (flymake-diagnostics))))

(defvar flycheck-current-errors)

(defun pillion-diagnostics--flycheck ()
  "The errors of Flycheck in the current buffer."
  (delq nil
        (mapcar (lambda (it)
                  (let ((region (flycheck-error-region-for-mode it 'symbols)))
                    (and region
                         (pillion-diagnostics--make
                          (car region) (cdr region)
                          (pillion-diagnostics--severity (flycheck-error-level it))
                          (flycheck-error-message it) (flycheck-error-checker it)
                          (flycheck-error-id it)))))
                flycheck-current-errors)))

(defun pillion-diagnostics--of (buffer)
  "The problems of BUFFER, errors first."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (sort (append (and (bound-and-true-p flymake-mode) (pillion-diagnostics--flymake))
                    (and (bound-and-true-p flycheck-mode) (pillion-diagnostics--flycheck)))
            (lambda (a b) (< (plist-get a :severity) (plist-get b :severity)))))))

(defun pillion-diagnostics-answer (params)
  "Return the diagnostics that an agent asks for with PARAMS."
  (let ((wanted (plist-get params :uri))
        (left pillion-diagnostics--max)
        (files nil))
    (dolist (buffer (buffer-list))
      (let* ((path (and (not (buffer-base-buffer buffer)) (pillion-file buffer)))
             (uri (and path (> left 0) (pillion-uri path)))
             (found (and uri (or (null wanted) (equal wanted uri))
                         (seq-take (pillion-diagnostics--of buffer) left))))
        (when found
          (setq left (- left (length found)))
          (push (list :uri uri :diagnostics (vconcat found)) files))))
    (list :files (vconcat (nreverse files)))))

(setf (alist-get 'pillion/diagnostics pillion-client-handlers) #'pillion-diagnostics-answer)

(provide 'pillion-diagnostics)
;;; pillion-diagnostics.el ends here
