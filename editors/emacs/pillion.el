;;; pillion.el --- The companion for terminal coding agents  -*- lexical-binding: t; -*-

;; Author: The Pillion developers
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: tools, convenience
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Claude Code, Gemini CLI and Qwen Code know your file, your cursor and your
;; region.  Their changes open as diffs in Emacs: `C-c C-c' accepts, your edits
;; included, and `C-c C-k' rejects.
;;
;; The package needs the program `pillion', which it runs as a process of its
;; own.  It lives beside Eglot and lsp-mode.
;;
;; Starting
;;
;;     (pillion-mode 1)
;;
;; in your init file starts the companion.  `M-x pillion-run' opens an agent
;; beside your files; agents that you start in `M-x shell', `M-x term', vterm or
;; eat find this Emacs, too, and so do those in terminals outside of it, if they
;; run in a project of which you have a file open.  In Gemini CLI and Qwen Code,
;; type `/ide enable' once.
;;
;; Proposals
;;
;; A proposal opens with the original beside it, and without taking the focus
;; from a terminal.  While you type, answer a prompt, record a macro or have a
;; region, it waits out of sight, and the mode line says so; then it opens.  What
;; you type in the second after that changes nothing.  In it:
;;
;;     C-c C-c   accept it as it stands, with your edits
;;     C-c C-k   reject it; so does killing the buffer
;;     C-c C-v   go on to what was not on the screen yet
;;     C-c C-n   the next hunk
;;     C-c C-p   the previous one
;;     C-c C-d   restore the original of the hunk; undo brings the hunk back
;;     C-c RET   merge it with what you have not saved in the buffer of its file
;;
;; `M-x pillion-diffs' goes to a proposal that is out of sight, `pillion-accept'
;; and `pillion-reject' decide from elsewhere.  When it is decided, your windows
;; are as they were.  What you wrote into a proposal that is rejected, whose agent
;; is gone, or that a newer one replaces, stays in a buffer named *Kept: …*.
;;
;; You accept only what you have seen.  Nothing is accepted before a proposal was
;; on the screen for 0.7 s, nor what you began to type before the agent sent a
;; newer one.  Saving accepts nothing, so no autosave does; nor do keyboard macros,
;; timers or code.  If a hunk has not been on the screen, or there is something
;; else that you may not expect, a message says so, and the same key again accepts.
;; Until all hunks have been there, the header line counts them, as in `seen 5/40',
;; and `C-c C-v' goes on: to the next page of a long hunk, what changed in a line
;; that is cut off, the lines that are removed, the next hunk, the proposal for
;; another file.
;;
;; Emacs writes nothing: the agent writes the file once you accept, and the
;; buffer that visits it is read again, unless it has unsaved changes.  Points,
;; narrowing and folded text stay; the encoding is that of the new file.  Line
;; endings, a byte order mark, a missing final newline and NUL characters stay as
;; they are.
;;
;; Sending
;;
;; `M-x pillion-send' puts the current file, or the region, into the prompt of an
;; agent; `M-x pillion-send-file' any file.  Enter is never pressed.
;;
;; What agents see
;;
;; The ten local files that you used last, the cursor in the one that has the
;; focus, and its region, up to 16 KiB.  While a terminal or a diff has the
;; focus, the file that had it before counts, with its region.  Agents that ask
;; get the problems that Flymake or Flycheck shows.  Files of TRAMP are left out.
;;
;; When agents ask
;;
;; `M-x pillion-review' chooses whether Claude Code, started with `pillion-run' or
;; `pillion run', asks before every change, as its permission mode has it, or not
;; at all, so that you look at its changes afterwards.  The mode line shows the
;; choice.
;;
;; Notes on a change that wait for your next prompt can be sent at once:
;; `M-x pillion-send-notes' wakes Claude Code if it is idle.
;;
;; What agents have written
;;
;; What nobody has looked at is marked in the buffers of its files, unless
;; `pillion-marks' is nil: the lines that are new, and those that were there
;; before.  `M-x pillion-next-change' and `pillion-previous-change' go there, and
;; `M-x pillion-take-back' takes back the hunk at point, with C-u all of the file.
;; A buffer with unsaved changes is changed and not saved.
;;
;; `M-x pillion-changes' lists what agents have changed, whether they asked or
;; not: RET goes there, TAB shows it as a diff, s keeps it, r takes it back, u
;; undoes what was done last in the list, a lists what was decided, too, and ?
;; shows a menu.
;;
;; Suggested keys
;;
;;     (keymap-global-set "C-c '" pillion-command-map)
;;
;; C-c ' ? then opens a menu of all commands: `M-x pillion-menu'.
;;
;; Options are in the group `pillion': M-x customize-group RET pillion.
;; If something does not work, `M-x pillion-doctor' says why.

;;; Code:

(require 'pillion-core)
(require 'pillion-changes)
(require 'pillion-client)
(require 'pillion-context)
(require 'pillion-diagnostics)
(require 'pillion-diff)
(require 'pillion-doctor)
(require 'pillion-offer)
(require 'pillion-others)
(require 'pillion-reload)
(require 'pillion-roots)
(require 'pillion-send)
(require 'pillion-terminal)
(require 'pillion-view)

;; Transient is not loaded with the rest.
(autoload 'pillion-menu "pillion-menu" "Choose a command of Pillion." t)

(defvar pillion-command-map
  (let ((map (make-sparse-keymap)))
    (define-key map "r" #'pillion-run)
    (define-key map "s" #'pillion-send)
    (define-key map "f" #'pillion-send-file)
    (define-key map "d" #'pillion-diffs)
    (define-key map "a" #'pillion-accept)
    (define-key map "k" #'pillion-reject)
    (define-key map "c" #'pillion-changes)
    (define-key map "t" #'pillion-take-back)
    (define-key map "l" #'pillion-look)
    (define-key map "]" #'pillion-next-change)
    (define-key map "[" #'pillion-previous-change)
    (define-key map "w" #'pillion-review)
    (define-key map "n" #'pillion-send-notes)
    (define-key map "?" #'pillion-menu)
    map)
  "Commands for a prefix key of your choice.")
(fset 'pillion-command-map pillion-command-map)

(defun pillion-mode-line ()
  "A text for the mode line: the agents and the pending diffs."
  (let* ((agents (mapcar (lambda (it) (pillion-plain (plist-get it :displayName)))
                         (pillion-client-get :agents)))
         (pending (or (pillion-client-get :pending) 0))
         (review (plist-get (pillion-client-get :review) :label))
         (decided (pillion-client-get :decided))
         (parts (append agents
                        (and review (list (pillion-plain review)))
                        (and decided (list (pillion-plain decided)))
                        (and (> pending 0)
                             (list (format "%d diff%s" pending (if (= pending 1) "" "s")))))))
    (string-replace
     "%" "%%"
     (cond ((not (pillion-client-running-p)) "")
           ;; `pillion--mode-line-entry' says more, and needs the room.
           ((> (pillion-offer-waiting) 0) "")
           (parts (concat " Pillion: " (string-join parts ", ")))
           (t " Pillion")))))

(defconst pillion--mode-line-entry '(:eval (pillion-offer-mode-line))
  "Where modes are not shown, this is.")

(defun pillion--show-in-mode-line (is-on)
  "Show in the mode line what waits out of sight, if IS-ON."
  (setq global-mode-string
        (remove pillion--mode-line-entry (ensure-list (or global-mode-string ""))))
  (when is-on
    (setq global-mode-string (append global-mode-string (list pillion--mode-line-entry)))))

(defun pillion--leave ()
  "Emacs exits: do not wait for an answer."
  (when (memq pillion-client-phase '(starting running))
    (pillion-diff--await-rulings)
    ;; A signal, or another program, is not the person.
    (when (and (pillion-others--within-p '(kill-emacs save-buffers-kill-emacs))
               (not (pillion-others-p)))
      (pillion-client-stop)
      (accept-process-output nil 0.05))))

(defun pillion--confirm-exit ()
  "Say before Emacs ends what waits for agents, and ask."
  (let ((text (pillion-client-get :at-quit)))
    (or (null text)
        noninteractive
        (y-or-n-p (format "%s; exit? " text)))))

(defconst pillion--plugin-of "PILLION_PLUGIN_OF"
  "The variable by which a `pillion lsp' of eglot's or lsp-mode's knows of us.
Agents find this Emacs once, by the package.")

;;;###autoload
(define-minor-mode pillion-mode
  "Serve terminal coding agents as their companion.
Agents see your files, your cursor and your region, and show you the
changes that they propose.  See the Commentary of the package:
\\[finder-commentary] RET pillion."
  :global t
  :group 'pillion
  :lighter (:eval (pillion-mode-line))
  ;; At once: other clients may start `pillion lsp' before this one does.
  (setenv pillion--plugin-of (and pillion-mode (number-to-string (emacs-pid))))
  (pillion--show-in-mode-line pillion-mode)
  (if pillion-mode
      (progn
        (add-hook 'kill-emacs-hook #'pillion--leave)
        (add-hook 'kill-emacs-query-functions #'pillion--confirm-exit)
        (if after-init-time
            (pillion-client-start t)
          (add-hook 'emacs-startup-hook #'pillion--start-if-wanted)))
    (remove-hook 'kill-emacs-hook #'pillion--leave)
    (remove-hook 'kill-emacs-query-functions #'pillion--confirm-exit)
    (remove-hook 'emacs-startup-hook #'pillion--start-if-wanted)
    (pillion-client-stop)))

(defun pillion--start-if-wanted ()
  "Start the companion, once Emacs has started up and all options are set."
  (when pillion-mode
    (pillion-client-start t)))

;;;###autoload
(defun pillion-start ()
  "Start the companion."
  (interactive)
  (if pillion-mode
      (pillion-client-start)
    (pillion-mode 1)))

;;;###autoload
(defun pillion-stop ()
  "Stop the companion.  Pending diffs then count as rejected."
  (interactive)
  (pillion-client-stop))

;;;###autoload
(defun pillion-restart ()
  "Stop the companion, and start it again."
  (interactive)
  (pillion-client-restart))

;;;###autoload
(defun pillion-review (choice)
  "Choose when agents ask before they change files: CHOICE.
Pillion knows what can be chosen.  Without one, show what is chosen."
  (interactive
   (list (completing-read "When agents ask: "
                          (append (plist-get (pillion-client-get :review) :choices) nil))))
  (pillion--choose :pillion/review
                   (if (equal choice "") (make-hash-table) (list :choice choice))))

;;;###autoload
(defun pillion-send-notes ()
  "Send agents the notes that wait for your next prompt.
An agent that can be woken reads them at once; for any other, a message
says when it gets them."
  (interactive)
  (pillion--choose :pillion/sendNotes (make-hash-table)))

(defun pillion--choose (method params)
  "Send the request METHOD with PARAMS, and show what came of it."
  (pillion-others-refuse)
  (unless (pillion-client-ask
           method params
           (lambda (result)
             (pillion-say "%s" (or (plist-get result :message) "`pillion' is too old for this"))))
    (user-error "Pillion: not running.  Hint: M-x pillion-start")))

;;;###autoload
(defun pillion-status ()
  "Show what Pillion is doing."
  (interactive)
  (pillion-say "%s" (pillion-doctor-status)))

(provide 'pillion)
;;; pillion.el ends here
