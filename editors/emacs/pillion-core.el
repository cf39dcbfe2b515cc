;;; pillion-core.el --- Options, messages and files of Pillion  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What all other files of the package need: the options, what is said to
;; people, which buffers are files, and what a person is in the middle of.

;;; Code:

;; Before a library is loaded that an older one lacks.
(when (version< emacs-version "29.1")
  (error "Pillion needs Emacs 29.1 or newer, so it does not start"))

(require 'seq)
(require 'subr-x)

(defconst pillion-version "0.1.0"
  "The version of the package.")

(defgroup pillion nil
  "The companion for terminal coding agents."
  :group 'tools
  :prefix "pillion-")

(declare-function pillion-diff-two-windows "pillion-view" (original proposal))

(defcustom pillion-command '("pillion")
  "The program, with any arguments that go before `lsp'."
  :type '(repeat string))

(defcustom pillion-log-file nil
  "The file to which the program logs its messages, without file contents."
  :type '(choice (const :tag "None" nil) file))

(defcustom pillion-roots nil
  "The workspace roots, in which agents connect.
Nil means the folder that Emacs was started in and the projects of the
files that you used last.  Otherwise a list of folders, or a function
without arguments that returns one."
  :type '(choice (const :tag "The projects of your files" nil)
                 (repeat directory)
                 function))

(defcustom pillion-trust 'unset
  "Your trust in the workspace.
This overrides the agent's own question about trusted folders, so
it is sent only if you set it."
  :type '(choice (const :tag "Let the agent ask" unset)
                 (const :tag "Trusted" t)
                 (const :tag "Not trusted" nil)))

(defcustom pillion-agents nil
  "Agents that `pillion-run' starts: a name and a command as a list of words.
They are added to those that the program knows, or take their place."
  :type '(alist :key-type string :value-type (repeat string)))

(defcustom pillion-terminal-backend 'auto
  "The terminal in which `pillion-run' starts agents.
`auto' is vterm or eat, if one of them is installed, else term."
  :type '(choice (const auto) (const vterm) (const eat) (const term)))

(defcustom pillion-terminal-side 'right
  "The side of the frame on which an agent's terminal opens."
  :type '(choice (const right) (const left) (const top) (const bottom)))

(defcustom pillion-terminal-size 0.4
  "How much of the frame an agent's terminal takes."
  :type 'number)

(defcustom pillion-terminal-auto-close t
  "Non-nil means that the terminal closes when the agent exits successfully."
  :type 'boolean)

(defcustom pillion-show-diffs t
  "Non-nil means that proposals are shown.
If nil, agents get your context and show their changes themselves,
unless another editor or a review of this project does.  An agent that
does not show them by itself asks without showing the change: see its
own settings.  Counts from the next start on: see `pillion-restart'."
  :type 'boolean)

(defcustom pillion-marks t
  "Non-nil means that what agents have written is marked in its buffers.
It is until somebody has looked at it: the lines that are new, and those
that were there before.  See `pillion-next-change'."
  :type 'boolean)

(defcustom pillion-diff-function #'pillion-diff-two-windows
  "How a proposal is shown.
A function with two arguments: the buffer with the original, or nil if
the file is new, and the buffer with the proposal.  They go into the
windows of the selected frame, whose configuration is restored later."
  :type '(choice (function-item pillion-diff-two-windows)
                 (function-item pillion-diff-ediff)
                 function))

(defcustom pillion-diff-layout 'auto
  "How `pillion-diff-two-windows' places its windows."
  :type '(choice (const :tag "As there is room" auto)
                 (const :tag "Side by side" side-by-side)
                 (const :tag "One above the other" stacked)))

(defcustom pillion-diff-keep-terminal-focus t
  "Non-nil means that the focus stays in a terminal when a proposal opens.
The terminal then stays beside it."
  :type 'boolean)

;;; Messages

(defvar pillion--said-once nil
  "Messages that were shown and are not to be repeated.")

(defun pillion-plain (text)
  "TEXT on one line, without control characters: it comes from outside."
  (replace-regexp-in-string "[[:cntrl:]]+" " " (or text "")))

(defun pillion-say (format &rest arguments)
  "Show the message of FORMAT and ARGUMENTS, without prompting."
  (message "Pillion: %s" (pillion-plain (apply #'format-message format arguments))))

(defun pillion-say-all (format &rest arguments)
  "Show the message of FORMAT and ARGUMENTS, however long it is."
  (let ((resize-mini-windows t)
        (max-mini-window-height 0.9))
    (apply #'pillion-say format arguments)))

(defun pillion-say-once (format &rest arguments)
  "Show the message of FORMAT and ARGUMENTS, unless it was shown before."
  (let ((text (apply #'format-message format arguments)))
    (unless (member text pillion--said-once)
      (push text pillion--said-once)
      (pillion-say "%s" text))))

;;; Files

(defun pillion-base (buffer)
  "BUFFER, or the base buffer whose text it has."
  (or (buffer-base-buffer buffer) buffer))

(defun pillion-file (buffer)
  "The absolute name of the local file that BUFFER visits, or nil."
  (let ((name (and (buffer-live-p buffer) (buffer-file-name (pillion-base buffer)))))
    (and name (not (file-remote-p name)) name)))

(defun pillion-file-on-disk (buffer)
  "The name of the file of BUFFER if it is a regular one on disk."
  (let ((name (pillion-file buffer)))
    (and name (file-regular-p name) name)))

(defun pillion-file-buffer (path)
  "The buffer that visits the file PATH, or nil."
  ;; A name from outside must not open a connection to another machine.
  (unless (file-remote-p path)
    (or (get-file-buffer path)
        (let ((real (file-truename path)))
          (seq-find (lambda (buffer)
                      (let ((name (pillion-file buffer)))
                        (and name (not (buffer-base-buffer buffer))
                             (equal (file-truename name) real))))
                    (buffer-list))))))

(defun pillion-uri (path &optional is-as-named)
  "The `file:' URI of PATH, with links resolved unless it IS-AS-NAMED."
  (let* ((real (directory-file-name (if is-as-named path (file-truename path))))
         (bytes (encode-coding-string real (or file-name-coding-system
                                               default-file-name-coding-system 'utf-8)))
         (name (if (string-match-p "\\`[A-Za-z]:" bytes) (concat "/" bytes) bytes)))
    (concat "file://"
            (mapconcat (lambda (byte)
                         (if (or (<= ?a byte ?z) (<= ?A byte ?Z) (<= ?0 byte ?9)
                                 (memq byte '(?/ ?. ?_ ?~ ?: ?-)))
                             (string byte)
                           (format "%%%02X" byte)))
                       name ""))))

(defconst pillion-not-text
  ;; Raw bytes are a range of their own to the regexp engine.
  (concat "[" (string #xd800) "-" (string #xdfff) (string #x110000) "-" (string #x3fff7f)
          (string #x3fff80) "-" (string #x3fffff) "]")
  "Matches what Emacs can hold and UTF-8 cannot: raw bytes, for example.")

(defun pillion-valid (text)
  "TEXT with U+FFFD in place of what UTF-8 cannot hold."
  (replace-regexp-in-string pillion-not-text "\ufffd" (substring-no-properties text) t t))

;;; What a person is in the middle of

(defvar pillion--in-command nil
  "Non-nil while a command runs that the person invoked.")

(defconst pillion-typing-delay 1.0
  "For how many seconds after a key the person counts as typing.")

(defconst pillion-editing-delay 5.0
  "The same after a key that changed the text: writing includes pauses.")

(defconst pillion-editing-commands
  '(self-insert-command org-self-insert-command newline newline-and-indent
    electric-newline-and-maybe-indent delete-backward-char delete-char
    backward-delete-char-untabify indent-for-tab-command yank kill-line kill-word
    backward-kill-word undo)
  "The commands that insert what people type.")

(defvar transient--prefix)

(defun pillion-mid-input-p ()
  "Return non-nil in the middle of a key sequence or of an answer to a prompt."
  (or (active-minibuffer-window)
      (> (recursion-depth) 0)
      cursor-in-echo-area
      (> (length (this-single-command-keys)) 0)))

(defun pillion-busy-p ()
  "Return non-nil if a change of windows would disturb the person's work."
  (or (pillion-mid-input-p)
      defining-kbd-macro
      executing-kbd-macro
      (bound-and-true-p isearch-mode)
      (bound-and-true-p transient--prefix)
      pillion--in-command))

(defun pillion-typing-p ()
  "Return non-nil if the person has just typed or moved."
  (let ((idle (current-idle-time)))
    ;; Emacs itself counts its start as input.
    (and (> num-input-keys 0)
         (or (null idle)
             (< (float-time idle)
                (if (memq real-last-command pillion-editing-commands)
                    pillion-editing-delay
                  pillion-typing-delay))))))

(defun pillion-frame-drawn-p (frame)
  "Return non-nil if a person can see what is drawn on FRAME."
  (and (frame-live-p frame)
       (eq (frame-visible-p frame) t)
       (not (equal (terminal-name (frame-terminal frame)) "initial_terminal"))
       (or (display-graphic-p frame)
           (eq frame (tty-top-frame (frame-terminal frame))))))

(provide 'pillion-core)
;;; pillion-core.el ends here
