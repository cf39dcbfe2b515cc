;;; pillion-terminal.el --- Agents in terminals of Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `pillion-run' starts an agent in vterm, eat or term, whichever there is.  The
;; agent goes on while its window is hidden.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-context)
(require 'pillion-roots)
(require 'pillion-wait)

(declare-function term-mode "term" ())
(declare-function term-exec "term" (buffer name command startfile switches))
(declare-function term-char-mode "term" ())
(declare-function term-in-char-mode "term" ())
(declare-function vterm-mode "ext:vterm" ())
(declare-function vterm-send-string "ext:vterm" (string &optional paste-p))
(declare-function eat-mode "ext:eat" ())
(declare-function eat-exec "ext:eat" (buffer name command startfile switches))
(declare-function eat-term-send-string-as-yank "ext:eat" (terminal args))
(defvar vterm-shell)
(defvar vterm-kill-buffer-on-exit)
(defvar eat-terminal)

(defconst pillion-terminal--start-timeout 3
  "Seconds that an agent waits for Pillion's variables.")

(defconst pillion-terminal--modes '(term-mode vterm-mode eat-mode shell-mode eshell-mode)
  "The major modes in which agents run.")

(defvar-local pillion-terminal-agent nil
  "The name of the agent that runs in this buffer.")
(defvar-local pillion-terminal--number nil)
(defvar-local pillion-terminal--folder nil
  "Where the agent was started: its project has a session of its own.")
(defvar-local pillion-terminal--used 0)
(defvar pillion-terminal--clock 0)

(defun pillion-terminal-buffer-p (buffer)
  "Return non-nil if BUFFER is a terminal with a living process."
  (and (memq (buffer-local-value 'major-mode buffer) pillion-terminal--modes)
       (or (eq (buffer-local-value 'major-mode buffer) 'eshell-mode)
           (process-live-p (get-buffer-process buffer)))))

(defun pillion-terminal-names ()
  "The names of the agents."
  (delete-dups (mapcar #'car (pillion-agents-commands))))

(defun pillion-terminal--command (agent)
  "The command of AGENT."
  (let ((command (cdr (assoc agent (pillion-agents-commands))))
        (default-directory "/"))
    (unless (and command (seq-every-p #'stringp command))
      (user-error "Pillion: unknown agent %s: see `pillion-agents'" agent))
    (let* ((name (replace-regexp-in-string "\\`~/" (expand-file-name "~/") (car command) t t))
           (program (executable-find name))
           (package (plist-get (pillion-agents-about agent) :package)))
      (unless program
        (user-error "Pillion: %s is not installed: %s" (car command)
                    (if package (format "npm install -g %s" package) "see `pillion-agents'")))
      (cons program (cdr command)))))

(defun pillion-terminal--wait ()
  "Wait until an agent would find Pillion when it is started.
Pillion also says then which agents there are."
  (pillion-client-start)
  (let ((begun (float-time)))
    (while (and (not pillion-environment--ours)
                (not (eq pillion-client-phase 'stopped))
                (< (- (float-time) begun) pillion-terminal--start-timeout))
      (accept-process-output nil 0.02))))

(defun pillion-terminal--warn-if-without-pillion (agent)
  "Report that AGENT is started without Pillion, if that is so."
  (unless pillion-environment--ours
    (pillion-say "%s is starting without Pillion: M-x pillion-doctor" agent)))

(defun pillion-terminal--through-run (agent command)
  "COMMAND of AGENT behind `pillion run', if the variables are not enough to it."
  (let ((program (pillion-client-program))
        (port (pillion-client-get :port))
        (about (pillion-agents-about agent)))
    (if (and program port pillion-environment--ours (eq (plist-get about :needsRun) t)
             (equal (file-name-base (car command)) (seq-first (plist-get about :command))))
        `(,program ,@(cdr pillion-command) "run" "--port" ,(format "%s" port) ,@command)
      command)))

(defun pillion-terminal--environment ()
  "The environment for an agent, whatever the buffer's own is."
  (append (mapcar (lambda (it) (format "%s=%s" (nth 0 it) (nth 1 it)))
                  pillion-environment--ours)
          process-environment))

(defun pillion-terminal--backend ()
  "The terminal to be used."
  (if (not (eq pillion-terminal-backend 'auto))
      pillion-terminal-backend
    (cond ((and (locate-library "vterm")
                ;; Without its module, vterm asks whether to build it.  Debian's says where it is.
                (progn (load "vterm-load-path" t t)
                       (locate-library "vterm-module")))
           'vterm)
          ((locate-library "eat") 'eat)
          (t 'term))))

(defun pillion-terminal--exec (command)
  "Run COMMAND in the current buffer."
  (let ((process-environment (pillion-terminal--environment))
        (buffer (current-buffer)))
    (pcase (pillion-terminal--backend)
      ('vterm
       (require 'vterm)
       (let ((vterm-shell (mapconcat #'shell-quote-argument command " ")))
         (vterm-mode))
       (setq-local vterm-kill-buffer-on-exit nil))
      ('eat
       (require 'eat)
       (eat-mode)
       (eat-exec buffer (buffer-name) (car command) nil (cdr command)))
      (_
       (require 'term)
       (term-mode)
       (term-exec buffer (buffer-name) (car command) nil (cdr command))
       (term-char-mode)))))

(defun pillion-terminal-show (buffer)
  "Show the window of the terminal BUFFER, and go there."
  (with-current-buffer buffer
    (setq pillion-terminal--used (setq pillion-terminal--clock (1+ pillion-terminal--clock))))
  (let ((window
         (or (get-buffer-window buffer)
             (display-buffer
              buffer
              `((display-buffer-in-side-window)
                (side . ,pillion-terminal-side)
                (slot . ,(or (buffer-local-value 'pillion-terminal--number buffer) 0))
                (,(if (memq pillion-terminal-side '(left right)) 'window-width 'window-height)
                 . ,pillion-terminal-size)
                (window-parameters (no-delete-other-windows . t)))))))
    (when window
      (select-window window))
    window))

(defun pillion-terminal--hide (buffer)
  "Close the windows of the terminal BUFFER."
  (dolist (window (get-buffer-window-list buffer))
    (condition-case nil
        (delete-window window)
      (error (switch-to-prev-buffer window)))))

(defun pillion-terminal--on-exit (buffer process)
  "The agent of BUFFER ended, which ran as PROCESS."
  (when (and (memq (process-status process) '(exit signal)) (buffer-live-p buffer))
    (let ((status (process-exit-status process))
          (agent (buffer-local-value 'pillion-terminal-agent buffer)))
      (with-current-buffer buffer
        (setq pillion-terminal--number nil)
        (rename-buffer (format "*pillion: %s (ended)*" agent) t))
      (cond ((not (eql status 0))
             (pillion-say "%s exited with status %s; its terminal shows why" agent status))
            (pillion-terminal-auto-close
             (pillion-wait (lambda () (not (pillion-mid-input-p)))
                           (lambda ()
                             (when (buffer-live-p buffer)
                               (pillion-terminal--hide buffer)
                               (kill-buffer buffer)))))))))

(defun pillion-terminal--read-agent ()
  "Ask for an agent, and for arguments behind its name."
  (minibuffer-with-setup-hook
      (lambda ()
        (let ((map (make-sparse-keymap)))
          (set-keymap-parent map (current-local-map))
          ;; It would complete.
          (define-key map " " #'self-insert-command)
          (use-local-map map)))
    (completing-read "Run agent: " (pillion-terminal-names))))

(defun pillion-terminal--here ()
  "The folder of the agents that are meant in the current buffer."
  (or pillion-terminal--folder
      (progn
        (pillion-context-flush)
        (file-name-as-directory (pillion-roots-for-terminal)))))

(defun pillion-terminal--start (agent number arguments folder)
  "Start session NUMBER of AGENT in FOLDER with these ARGUMENTS more."
  (pillion-terminal--wait)
  (let ((command (append (pillion-terminal--command agent) arguments)))
    (pillion-terminal--warn-if-without-pillion agent)
    (let ((buffer (generate-new-buffer
                   (if (= number 1) (format "*pillion: %s*" agent)
                     (format "*pillion: %s %d*" agent number)))))
      (with-current-buffer buffer
        (setq default-directory folder
              pillion-terminal--number number))
      (pillion-terminal-show buffer)
      (with-current-buffer buffer
        (condition-case error
            (pillion-terminal--exec (pillion-terminal--through-run agent command))
          (error (pillion-terminal--hide buffer)
                 (kill-buffer buffer)
                 (user-error "Pillion: cannot start %s: %s" agent (error-message-string error))))
        ;; The mode took them away.
        (setq pillion-terminal-agent agent
              pillion-terminal--number number
              pillion-terminal--folder folder
              pillion-terminal--used pillion-terminal--clock)
        (let ((process (get-buffer-process buffer)))
          (when process
            (set-process-query-on-exit-flag process nil)
            (add-function :after (process-sentinel process)
                          (lambda (process _) (pillion-terminal--on-exit buffer process)))))))))

(defun pillion-terminal--find (agent number folder)
  "The buffer of AGENT with this NUMBER in FOLDER, or nil."
  (seq-find (lambda (it)
              (and (equal (buffer-local-value 'pillion-terminal-agent it) agent)
                   (equal (buffer-local-value 'pillion-terminal--number it) number)
                   (equal (buffer-local-value 'pillion-terminal--folder it) folder)
                   (process-live-p (get-buffer-process it))))
            (buffer-list)))

(defun pillion-terminal-target (agent)
  "The buffer of the terminal for a text to AGENT, or nil.
Without an AGENT, it is the one used last, if possible of this project."
  (let ((here (pillion-terminal--here))
        (running (seq-filter
                  (lambda (it)
                    (let ((name (buffer-local-value 'pillion-terminal-agent it)))
                      (and name (or (null agent) (equal name agent))
                           (process-live-p (get-buffer-process it)))))
                  (buffer-list))))
    (setq running (sort running (lambda (a b)
                                  (> (buffer-local-value 'pillion-terminal--used a)
                                     (buffer-local-value 'pillion-terminal--used b)))))
    (or (seq-find (lambda (it) (equal (buffer-local-value 'pillion-terminal--folder it) here))
                  running)
        (car running))))

(defun pillion-terminal-paste (buffer text)
  "Paste TEXT into the agent's prompt in BUFFER.  Enter is never pressed."
  (with-current-buffer buffer
    (pcase major-mode
      ('vterm-mode (vterm-send-string text t))
      ('eat-mode (eat-term-send-string-as-yank eat-terminal text))
      (_ (process-send-string (get-buffer-process buffer)
                              (encode-coding-string (concat "\e[200~" text "\e[201~")
                                                    'utf-8-unix)))))
  (pillion-terminal-show buffer))

;;;###autoload
(defun pillion-run (agent &optional number)
  "Start AGENT in a terminal beside your files; hide or show it if it is there.
Each project has its own.
Words after its name are arguments of its program, such as those that
resume a session.  With a prefix argument, it is another one of this
NUMBER."
  (interactive
   (list (progn (pillion-terminal--wait)
                (pillion-terminal--read-agent))
         (prefix-numeric-value current-prefix-arg)))
  (let* ((number (or number 1))
         (words (split-string-and-unquote agent))
         (agent (or (car words) (user-error "Pillion: no agent was chosen")))
         (folder (pillion-terminal--here))
         (buffer (pillion-terminal--find agent number folder)))
    (cond ((null buffer) (pillion-terminal--start agent number (cdr words) folder))
          ((cdr words)
           (user-error "Pillion: %s runs here already: C-u %d M-x pillion-run starts another one"
                       agent (1+ number)))
          ((get-buffer-window buffer) (pillion-terminal--hide buffer))
          (t (pillion-terminal-show buffer)))))

(provide 'pillion-terminal)
;;; pillion-terminal.el ends here
