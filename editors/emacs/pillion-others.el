;;; pillion-others.el --- Programs that speak to the Emacs server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; An agent's shell can have `emacsclient --eval' call a command, or put keys into
;; `unread-command-events', which Emacs then takes for typed.  Neither is what the
;; person does.  What such an expression does beside that, nothing in Emacs can
;; refuse: it may do all that this package does.

;;; Code:

(require 'pillion-client)
(require 'pillion-core)

(defconst pillion-others--inputs '(unread-command-events unread-post-input-method-events)
  "The variables from which Emacs takes keys before those that are typed.")

(defvar pillion-others--has-typed nil
  "Non-nil while keys count that a client of the server has put there.")

(defun pillion-others--within-p (functions)
  "Return non-nil if one of FUNCTIONS is being carried out."
  (catch 'found
    (mapbacktrace (lambda (_evaluated function &rest _)
                    (when (memq function functions)
                      (throw 'found t))))))

(defun pillion-others--calls-p ()
  "Return non-nil if what is carried out is called by a client of the server."
  (pillion-others--within-p '(server-process-filter)))

(defun pillion-others--on-input (_variable keys &rest _)
  "Note whose KEYS Emacs takes for typed from now on."
  (when (and keys (pillion-others--calls-p))
    (setq pillion-others--has-typed t)
    (add-hook 'post-command-hook #'pillion-others--after-command)))

(defun pillion-others--after-command ()
  "A command has ended, perhaps that of the last of these keys."
  (unless (or (> (minibuffer-depth) 0) (seq-some #'symbol-value pillion-others--inputs))
    (setq pillion-others--has-typed nil)
    (remove-hook 'post-command-hook #'pillion-others--after-command)))

(defun pillion-others-p ()
  "Return non-nil if what is carried out may be typed or called by another program."
  (or pillion-others--has-typed (pillion-others--calls-p)))

(defun pillion-others-refuse ()
  "Signal an error if another program does this in the person's name."
  (when (pillion-others-p)
    (user-error "Pillion: another program types or calls this in Emacs: only you decide")))

(defun pillion-others--attach ()
  "Begin to note who types."
  (dolist (input pillion-others--inputs)
    (add-variable-watcher input #'pillion-others--on-input)))

(defun pillion-others--detach ()
  "Note it no longer."
  (dolist (input pillion-others--inputs)
    (remove-variable-watcher input #'pillion-others--on-input)))

(add-hook 'pillion-started-hook #'pillion-others--attach)
(add-hook 'pillion-stopped-hook #'pillion-others--detach)

(provide 'pillion-others)
;;; pillion-others.el ends here
