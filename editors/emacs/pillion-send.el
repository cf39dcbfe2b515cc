;;; pillion-send.el --- Files and text into an agent's prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Agents that know mentions put files and lines into their prompts themselves.
;; For all others it arrives as if it were pasted.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-context)
(require 'pillion-terminal)

(defconst pillion-send--special "[][ (){};|*?$`'\"#&<>!~,\\]"
  "Characters that end an `@path' for agents, or are special to them.")

(defun pillion-send--harmless (text)
  "TEXT in which nothing can end a paste or act as a key."
  (mapconcat (lambda (char)
               (string (cond ((memq char '(?\t ?\n)) char)
                             ((< char 32) (+ #x2400 char))
                             ((= char 127) #x2421)
                             ((<= 128 char 159) #xfffd)
                             (t char))))
             (pillion-valid (string-replace "\r\n" "\n" text)) ""))

(defun pillion-send--relative (path folder)
  "PATH as people read it: relative to FOLDER if it is below."
  (let ((real (file-truename path))
        (folder (file-name-as-directory (file-truename folder))))
    (if (string-prefix-p folder real) (substring real (length folder)) real)))

(defun pillion-send--lines (lines)
  "LINES, a pair of the first and the last, in words."
  (if (= (car lines) (cdr lines))
      (format "line %d" (car lines))
    (format "lines %d-%d" (car lines) (cdr lines))))

(defun pillion-send--item (path lines folder)
  "The text for LINES of PATH, for an agent in FOLDER."
  (concat "@" (replace-regexp-in-string pillion-send--special "\\\\\\&"
                                        (pillion-send--relative path folder))
          (and lines (concat " " (pillion-send--lines lines)))))

(defun pillion-send--anchor (path lines folder)
  "The text for LINES of PATH with an anchor, for an agent in FOLDER."
  (let ((anchor (cond ((null lines) "")
                      ((= (car lines) (cdr lines)) (format "#L%d" (car lines)))
                      (t (format "#L%d-%d" (car lines) (cdr lines))))))
    (if (string-match-p "[[:space:]]" path)
        (format "@\"%s%s\"" (file-truename path) anchor)
      (concat "@" (pillion-send--relative path folder) anchor))))

(defun pillion-send--text (path lines terminal)
  "The text for LINES of PATH in the form of the agent in TERMINAL."
  (funcall (if (and terminal
                    (eq t (plist-get (pillion-agents-about
                                      (buffer-local-value 'pillion-terminal-agent terminal))
                                     :readsLinesInPrompt)))
               #'pillion-send--anchor
             #'pillion-send--item)
           path lines (pillion-send--folder terminal)))

(defun pillion-send--fenced (text)
  "TEXT between fences that are longer than those in it."
  (let ((fence "```"))
    (while (string-search fence text)
      (setq fence (concat fence "`")))
    (concat fence "\n" text (unless (string-suffix-p "\n" text) "\n") fence)))

(defun pillion-send--check (path)
  "Refuse PATH if no agent could read it in a prompt."
  (cond ((null path)
         (user-error "Pillion: this buffer is not a file: select text instead"))
        ((string-match-p "[[:cntrl:]]" path)
         (user-error "Pillion: cannot send a file with control characters in its name"))
        ((not (file-exists-p path))
         (user-error "Pillion: the file is not on disk yet: save it first")))
  path)

(defun pillion-send--mentioned ()
  "The names of the connected agents that know mentions."
  (let ((mentions (pillion-client-get :mentions)))
    (seq-filter (lambda (name) (member name mentions))
                (mapcar (lambda (it) (plist-get it :name)) (pillion-client-get :agents)))))

(defun pillion-send--mention-p (agent terminal)
  "Return non-nil if AGENT, perhaps in TERMINAL, gets a mention.
Pillion chooses the session, so it has to be the one in the terminal."
  (let ((names (pillion-send--mentioned))
        (wanted (if terminal (buffer-local-value 'pillion-terminal-agent terminal) agent)))
    (and names
         (or (null terminal) (null (cdr names)))
         (or (null wanted)
             (seq-every-p (lambda (name) (string-search wanted name)) names)))))

(defun pillion-send--missing (agent)
  "Report that AGENT is not running here."
  (user-error "Pillion: %s is not running in a terminal here: M-x pillion-run"
              (or agent "an agent")))

(defun pillion-send--paste (terminal agent text)
  "Paste TEXT for AGENT into TERMINAL."
  (if terminal
      (pillion-terminal-paste terminal (pillion-send--harmless text))
    (pillion-send--missing agent)))

(defun pillion-send--folder (terminal)
  "The folder of the agent in TERMINAL."
  (if terminal (buffer-local-value 'default-directory terminal) default-directory))

(defun pillion-send--mention (path lines terminal otherwise)
  "Mention LINES of PATH; if no agent takes it, call OTHERWISE.
TERMINAL is that of the agent, if it is here."
  (unless (pillion-client-ask
           :pillion/mention
           `( :uri ,(pillion-uri path)
              ,@(and lines `(:lines (:first ,(1- (car lines)) :last ,(1- (cdr lines))))))
           (lambda (result)
             (let ((agent (plist-get result :agent)))
               (cond ((null agent) (funcall otherwise))
                     ((buffer-live-p terminal) (pillion-terminal-show terminal))
                     (t (pillion-say "mentioned in the prompt of %s"
                                     (plist-get agent :displayName)))))))
    (funcall otherwise)))

(defun pillion-send-path (path lines &optional agent)
  "Send LINES of the file PATH to AGENT; all of it if LINES is nil."
  (pillion-send--check path)
  (let* ((terminal (pillion-terminal-target agent))
         (paste (lambda ()
                  (pillion-send--paste
                   terminal agent
                   (concat (pillion-send--text path lines terminal) " ")))))
    (if (pillion-send--mention-p agent terminal)
        (pillion-send--mention path lines terminal paste)
      (funcall paste))))

(defun pillion-send--region (agent)
  "Send the region to AGENT.
Of unsaved text the path has no `@': the agent would read the old file."
  (let* ((beg (region-beginning)) (end (region-end))
         (lines (cons (line-number-at-pos beg t)
                      (line-number-at-pos (if (and (> end beg) (eq (char-before end) ?\n))
                                              (1- end)
                                            end)
                                          t)))
         (text (or (car (pillion-context-selection (current-buffer) (point)))
                   (buffer-substring-no-properties beg end)))
         (path (pillion-file-on-disk (current-buffer)))
         (path (and path (not (string-match-p "[[:cntrl:]]" path)) path))
         (is-modified (buffer-modified-p))
         (terminal (pillion-terminal-target agent))
         (folder (pillion-send--folder terminal))
         (name (cond ((null path) "")
                     (is-modified (concat (pillion-send--relative path folder) " "
                                          (pillion-send--lines lines) " "))
                     (t (concat (pillion-send--text path lines terminal) " "))))
         (paste (lambda ()
                  (pillion-send--paste
                   terminal agent
                   (concat name "\n" (pillion-send--fenced text) "\n")))))
    (if (and path (not is-modified) (pillion-send--mention-p agent terminal))
        (pillion-send--mention path lines terminal paste)
      (funcall paste))))

(defun pillion-send--agent ()
  "The agent that the person chooses with a prefix argument, or nil."
  (and current-prefix-arg
       (completing-read "Send to agent: " (pillion-terminal-names) nil t)))

;;;###autoload
(defun pillion-send (&optional agent)
  "Put the current file, or the region, into the prompt of an agent.
In a terminal or a diff, it is the file that had the focus before.
With a prefix argument, choose the AGENT.  Enter is never pressed."
  (interactive (list (pillion-send--agent)))
  (cond
   ((use-region-p) (pillion-send--region agent))
   ((pillion-file (current-buffer))
    (pillion-send-path (pillion-file (current-buffer)) nil agent))
   ((or (pillion-terminal-buffer-p (current-buffer))
        (bound-and-true-p pillion-diff-mode))
    (pillion-send-path (car (pillion-context-files)) nil agent))
   (t (pillion-send--check nil))))

;;;###autoload
(defun pillion-ask (text &optional agent)
  "Put TEXT into the prompt of an agent.
With a prefix argument, choose the AGENT.  Enter is never pressed."
  (interactive (list (read-string "Text for the agent: ") (pillion-send--agent)))
  (pillion-send--paste (pillion-terminal-target agent) agent text))

;;;###autoload
(defun pillion-send-file (file &optional agent)
  "Put FILE into the prompt of an agent.
With a prefix argument, choose the AGENT."
  (interactive (list (read-file-name "Send file: " nil nil t) (pillion-send--agent)))
  (pillion-send-path (expand-file-name file) nil agent))

(provide 'pillion-send)
;;; pillion-send.el ends here
