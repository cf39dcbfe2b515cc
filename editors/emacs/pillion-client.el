;;; pillion-client.el --- The companion process  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `pillion lsp': its life, and what is said to and by it.  It is a process of
;; its own, beside the language servers of Eglot or lsp-mode.

;;; Code:

(require 'jsonrpc)
(require 'pillion-core)
(require 'pillion-json)

(defconst pillion-client--start-timeout 10
  "Seconds that Pillion may take to start, while Emacs itself is not busy.")

(defconst pillion-client--end-timeout 2
  "Seconds that Pillion may take to exit when asked to.")

(defconst pillion-client--answer-timeout 2
  "Seconds that a command waits for an answer.")

(defconst pillion-client--max-retries 5
  "The number of restarts of a companion that exits early.")

(defconst pillion-client--good-life 60
  "One that ran for this many seconds did not exit early.")

(defvar pillion-client-phase 'stopped
  "One of `stopped', `starting', `running' and `stopping'.")

(defvar pillion-client-state nil
  "The state of the running companion, as a property list.
It has `:version', `:port', `:pid', `:agents', `:mentions',
`:warnings', `:notes', `:review', `:pending' and `:files'.")

(defvar pillion-client-last-end nil
  "The last end of the companion, for `pillion-doctor'.")

(defvar pillion-started-hook nil
  "Run when the companion has started.")

(defvar pillion-stopped-hook nil
  "Run when the companion is gone.")

(defvar pillion-status-changed-hook nil
  "Run when agents, diffs or warnings have changed.")

(defvar pillion-client-handlers nil
  "The handlers of requests from Pillion: pairs of a method and a function.
The function takes the parameters, and returns the result or signals
an error whose message the agent gets.")

(defvar pillion-client-environment-function #'ignore
  "Called when the companion has said where agents find it.")

(defvar pillion-client-initialize-function #'ignore
  "Returns the workspace with which the companion starts.")

(defvar pillion-client--connection nil)
(defvar pillion-client--retries 0)
(defvar pillion-client--retry-timer nil)
(defvar pillion-client--started-at 0)
(defvar pillion-client--restart-wanted nil)

(defun pillion-client-running-p ()
  "Return non-nil if the companion serves agents."
  (eq pillion-client-phase 'running))

(defun pillion-client-get (field)
  "Return FIELD of the running companion's state."
  (plist-get pillion-client-state field))

(defun pillion-client-notify (method params)
  "Send the notification METHOD with PARAMS, if the companion is running."
  (when (pillion-client-running-p)
    (condition-case nil
        (progn (jsonrpc-notify pillion-client--connection method params) t)
      ;; It is going: its end is reported by itself.
      (file-error nil)
      (error nil))))

(defun pillion-client-ask (method params answer)
  "Send the request METHOD with PARAMS, then call ANSWER with the result or nil."
  (and (pillion-client-running-p)
       (progn
         ;; It answers, or ends, which is an error.
         (jsonrpc-async-request pillion-client--connection method params
                                :success-fn answer
                                :error-fn (lambda (_) (funcall answer nil))
                                :timeout nil)
         t)))

(defun pillion-client-ask-now (method params)
  "Send the request METHOD with PARAMS; the result, for which to wait.
If there is none, signal an error for the person."
  (condition-case problem
      (jsonrpc-request pillion-client--connection method params
                       :timeout pillion-client--answer-timeout)
    (error
     (user-error "Pillion: %s" (or (alist-get 'jsonrpc-error-message (cddr problem))
                                   "the program does not answer")))))

;;; What Pillion says

(defvar pillion-environment--ours nil
  "The variables that Pillion set: lists of name, value and the value before.")

(defun pillion-environment-set (variables)
  "Set VARIABLES, pairs of names and values, and restore all others of ours."
  (pcase-dolist (`(,name ,value ,before) pillion-environment--ours)
    ;; What others set in the meantime is not ours to restore.
    (when (equal (getenv name) value)
      (setenv name before)))
  (setq pillion-environment--ours nil)
  (pcase-dolist (`(,name . ,value) variables)
    (when (and (stringp value) (string-match-p "\\`[A-Za-z0-9_]+\\'" name))
      (push (list name value (getenv name)) pillion-environment--ours)
      (setenv name value))))

(defun pillion-client--variables (params)
  "The environment variables in PARAMS as pairs."
  (let ((variables nil) (rest (plist-get params :variables)))
    (while rest
      (push (cons (substring (symbol-name (pop rest)) 1) (pop rest)) variables))
    variables))

(defvar pillion-agents--known nil
  "The agents that the program named last, as property lists.
They stay when it ends.")

(defun pillion-agents-about (name)
  "The properties of the agent with this NAME, or nil."
  (seq-find (lambda (it) (equal (plist-get it :name) name)) pillion-agents--known))

(defun pillion-agents-commands ()
  "The commands of all agents: lists of a name and the words."
  (append pillion-agents
          (mapcar (lambda (it) (cons (plist-get it :name) (append (plist-get it :command) nil)))
                  pillion-agents--known)))

(defun pillion-client--update (&rest fields)
  "Record FIELDS of the state."
  (while fields
    (setq pillion-client-state
          (plist-put pillion-client-state (pop fields) (pop fields))))
  (run-hooks 'pillion-status-changed-hook)
  (force-mode-line-update t))

(defun pillion-client--on-notification (connection method params)
  "Handle METHOD with PARAMS of CONNECTION."
  (when (eq connection pillion-client--connection)
    (pcase method
      ('pillion/environment
       (pillion-environment-set (pillion-client--variables params))
       (setq pillion-agents--known (append (plist-get params :agents) nil))
       (pillion-client--update :port (plist-get params :port)
                               :pid (plist-get params :pid)
                               :files (append (plist-get params :discoveryFiles) nil)
                               :roots (append (plist-get params :roots) nil)
                               :start (plist-get params :startFolder))
       (funcall pillion-client-environment-function))
      ('pillion/didChangeStatus
       (pillion-client--update :agents (append (plist-get params :agents) nil)
                               :mentions (append (plist-get params :mentions) nil)
                               :warnings (append (plist-get params :warnings) nil)
                               :notes (append (plist-get params :notes) nil)
                               :review (plist-get params :review)
                               :decided (plist-get params :decided)
                               :at-quit (plist-get params :atQuit)
                               :unseen (or (plist-get params :unseen) 0)
                               :changes (plist-get params :changes)
                               :pending (or (plist-get params :pendingDiffs) 0)))
      ((or 'pillion/offerText 'pillion/didChangeFile)
       (funcall (alist-get method pillion-client-handlers #'ignore) params))
      ('window/showMessage
       (pillion-say "%s" (string-remove-prefix "Pillion: " (plist-get params :message))))
      ('window/logMessage
       (when (<= (or (plist-get params :type) 4) 2)
         (pillion-say "%s" (plist-get params :message)))))))

(defun pillion-client--on-request (connection method params)
  "Answer METHOD with PARAMS of CONNECTION."
  (let ((handler (alist-get method pillion-client-handlers)))
    (cond ((not (eq connection pillion-client--connection))
           (jsonrpc-error :code -32603 :message "the companion is stopping"))
          ((not handler)
           (jsonrpc-error :code -32601
                          :message (format "the package does not support %s" method)))
          (t
           (condition-case error
               (funcall handler params)
             (error (jsonrpc-error :code -32603
                                   :message (pillion-valid (error-message-string error)))))))))

;;; Its life

(defun pillion-client--stderr ()
  "Return the text that the companion wrote to its standard error."
  (let ((buffer (seq-find #'get-buffer '("*pillion stderr*" " *pillion stderr*"
                                         "*[pillion] stderr*" " *[pillion] stderr*"))))
    (if buffer
        (with-current-buffer buffer
          (string-trim (buffer-substring-no-properties
                        (max (point-min) (- (point-max) 2000)) (point-max))))
      "")))

(defun pillion-client--after-the-end ()
  "Forget what was known about the companion that exited."
  (setq pillion-client-phase 'stopped
        pillion-client--connection nil
        pillion-client-state nil)
  (pillion-environment-set nil)
  (run-hooks 'pillion-stopped-hook 'pillion-status-changed-hook)
  (force-mode-line-update t))

(defun pillion-client--retry-later (how)
  "Restart the companion after a growing delay; HOW is how it ended."
  (when (>= (- (float-time) pillion-client--started-at) pillion-client--good-life)
    (setq pillion-client--retries 0))
  (if (>= pillion-client--retries pillion-client--max-retries)
      (pillion-say "pillion keeps exiting (%s). Hint: M-x pillion-doctor, then M-x pillion-start" how)
    (let ((delay (expt 2 pillion-client--retries)))
      (setq pillion-client--retries (1+ pillion-client--retries))
      (pillion-say "pillion exited (%s); restarting in %d s" how delay)
      (setq pillion-client--retry-timer
            (run-at-time delay nil #'pillion-client-start)))))

(defun pillion-client--on-shutdown (connection)
  "Handle the end of CONNECTION."
  (when (eq connection pillion-client--connection)
    (let* ((process (jsonrpc--process connection))
           (was pillion-client-phase)
           (how (format (if (eq (process-status process) 'signal) "signal %d" "exit code %d")
                        (process-exit-status process)))
           (said (pillion-client--stderr)))
      (unless (eq was 'stopping)
        (setq pillion-client-last-end
              (if (equal said "") how (format "%s: %s" how (pillion-plain said)))))
      (pillion-client--after-the-end)
      (cond (pillion-client--restart-wanted
             (setq pillion-client--restart-wanted nil)
             (pillion-client-start))
            ((eq was 'starting)
             (pillion-say "`pillion lsp' failed. Hint: M-x pillion-doctor"))
            ((eq was 'running)
             (pillion-client--retry-later how))))))

(defun pillion-client--connect (command)
  "A connection to a new process of COMMAND."
  (let ((arguments
         (list :name "pillion"
               :notification-dispatcher #'pillion-client--on-notification
               :request-dispatcher #'pillion-client--on-request
               :on-shutdown #'pillion-client--on-shutdown
               :process (lambda ()
                          (let ((default-directory (expand-file-name "~/"))
                                (read-process-output-max (* 1024 1024)))
                            (make-process :name "pillion" :command command
                                          :connection-type 'pipe :coding 'utf-8-emacs-unix
                                          :noquery t :file-handler nil
                                          :stderr (get-buffer-create "*pillion stderr*")))))))
    ;; Texts of files are in no log.
    (condition-case nil
        (apply #'make-instance 'jsonrpc-process-connection :events-buffer-config '(:size 0) arguments)
      (invalid-slot-name
       (apply #'make-instance 'jsonrpc-process-connection :events-buffer-scrollback-size 0 arguments)))))

(defun pillion-client--initialize-params ()
  "The parameters of `initialize'."
  `( :processId ,(emacs-pid)
     :clientInfo (:name "Emacs" :version ,emacs-version)
     :capabilities ( :general (:positionEncodings ["utf-16"])
                     :experimental
                     ( :pillion ( :version ,pillion-version
                                  :diffs ,(if pillion-show-diffs "lastUsed" "never")
                                  :workspace ,(funcall pillion-client-initialize-function))))))

(defun pillion-client--on-initialized (connection result)
  "CONNECTION answered `initialize' with RESULT."
  (when (and (eq connection pillion-client--connection) (eq pillion-client-phase 'starting))
    (setq pillion-client-phase 'running)
    (pillion-client--update :version (plist-get (plist-get result :serverInfo) :version)
                            :pending 0)
    (pillion-client-notify :initialized (make-hash-table))
    (run-hooks 'pillion-started-hook)))

(defun pillion-client--give-up (connection why)
  "End CONNECTION, which did not start; WHY."
  (when (and (eq connection pillion-client--connection) (eq pillion-client-phase 'starting))
    (setq pillion-client-phase 'stopping
          pillion-client-last-end (pillion-plain why))
    (pillion-say "cannot start pillion: %s" why)
    (delete-process (jsonrpc--process connection))))

(defun pillion-client--await-start (connection seconds)
  "End CONNECTION if it is still starting after SECONDS.
They are counted one by one: after a time in which Emacs was busy, what
the companion has answered is read first."
  (when (and (eq connection pillion-client--connection) (eq pillion-client-phase 'starting))
    (if (> seconds 0)
        (run-at-time 1 nil #'pillion-client--await-start connection (1- seconds))
      (pillion-client--give-up
       connection (format "it did not respond within %d s" pillion-client--start-timeout)))))

(defun pillion-client-program ()
  "The program, or nil."
  (let ((default-directory "/"))
    (executable-find (replace-regexp-in-string
                      "\\`~/" (expand-file-name "~/") (car pillion-command) t t))))

(defun pillion-client-start (&optional is-automatic)
  "Start the companion if it is not there.
IS-AUTOMATIC is non-nil if nobody asked for it."
  (when (timerp pillion-client--retry-timer)
    (cancel-timer pillion-client--retry-timer))
  (pcase pillion-client-phase
    ('stopping (setq pillion-client--restart-wanted t))
    ('stopped
     (let ((program (pillion-client-program)))
       (if (not program)
           (funcall (if is-automatic #'pillion-say-once #'pillion-say)
                    "`%s' was not found. Hint: install the program, or set `pillion-command'"
                    (car pillion-command))
         (setq pillion-client-phase 'starting
               pillion-client-state nil
               pillion-client--started-at (float-time))
         (let ((connection
                (pillion-client--connect
                 `(,program ,@(cdr pillion-command) "lsp"
                            ,@(and pillion-log-file
                                   (list "--log" (expand-file-name pillion-log-file)))))))
           (setq pillion-client--connection connection)
           (when (pillion-json-needed-p)
             (let ((process (jsonrpc--process connection)))
               (set-process-filter process (pillion-json-filter (process-filter process)))))
           (jsonrpc-async-request
            connection :initialize (pillion-client--initialize-params)
            :success-fn (lambda (result) (pillion-client--on-initialized connection result))
            :error-fn (lambda (error)
                        (pillion-client--give-up connection (plist-get error :message)))
            :timeout nil)
           (pillion-client--await-start connection pillion-client--start-timeout)))))))

(defun pillion-client-stop ()
  "Ask the companion to exit.  Pending diffs then count as rejected."
  (setq pillion-client--restart-wanted nil
        pillion-client--retries 0)
  (when (timerp pillion-client--retry-timer)
    (cancel-timer pillion-client--retry-timer))
  (when (memq pillion-client-phase '(starting running))
    (let* ((connection pillion-client--connection)
           (process (jsonrpc--process connection)))
      (setq pillion-client-phase 'stopping)
      (jsonrpc-async-request
       connection :shutdown nil
       :success-fn (lambda (_) (ignore-errors (jsonrpc-notify connection :exit nil)))
       :error-fn #'ignore :timeout-fn #'ignore)
      (run-at-time pillion-client--end-timeout nil
                   (lambda () (when (process-live-p process) (delete-process process)))))))

(defun pillion-client-restart ()
  "Stop the companion if it is running, and start it."
  (pillion-client-stop)
  (pillion-client-start))

(provide 'pillion-client)
;;; pillion-client.el ends here
