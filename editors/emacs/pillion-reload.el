;;; pillion-reload.el --- Files that agents wrote  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What agents write reaches the buffers: one without unsaved changes is read
;; again, one with them is left alone with a message.  There are no prompts.
;; Points, narrowing and folded text stay, also if the agent empties the file
;; before it writes.  The program tells which files have changed.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-text)
(require 'pillion-wait)

(defconst pillion-reload--expected-for 10
  "For how many seconds a file that an agent is about to write is watched.")

(defconst pillion-reload--max-comparing 0.5
  "Seconds that finding the changes in a buffer may take.")

(defvar pillion-reload--expected nil
  "The files that agents will write: lists of a path, a deadline and a text.
The fourth element is what the person's buffer had when that was merged into it.")
(defvar pillion-reload--watched nil
  "The files that Pillion watches: pairs of a URI and a path.")
(defvar pillion-reload--news nil
  "The files that have changed since they were looked at: paths and sizes.")
(defvar pillion-reload--is-waiting nil)
(defvar pillion-reload--is-on nil)
(defvar-local pillion-reload--conflict nil
  "The modification time of the file when the person was last notified.")

(defun pillion-reload--wanted-p ()
  "Return non-nil if agents may write, or have written what nobody has seen.
Of those that hooks report, no other is known."
  (or (pillion-client-get :agents) pillion-reload--expected
      (> (or (pillion-client-get :unseen) 0) 0)))

;;; Reading again

(defun pillion-reload--expectation (path)
  "Return the entry of the text that is about to be written to PATH."
  (or (assoc path pillion-reload--expected)
      (assoc (file-truename path) pillion-reload--expected)))

(defun pillion-reload--coding (bytes expected)
  "The coding system for BYTES if they are the text that is EXPECTED.
That is UTF-8, whatever the file was before and its buffer was told."
  (let ((text (nth 2 expected)))
    (and text
         (equal bytes (encode-coding-string text 'utf-8-unix))
         (if (string-prefix-p pillion-text-bom text) 'utf-8-with-signature 'utf-8))))

(defun pillion-reload--read (path buffer)
  "Put the file PATH into BUFFER; its coding system."
  (let* ((expected (pillion-reload--expectation path))
         (bytes (and expected
                     (with-temp-buffer
                       (set-buffer-multibyte nil)
                       (insert-file-contents-literally path)
                       (buffer-string))))
         (coding (pillion-reload--coding bytes expected)))
    (when coding
      (setq buffer-file-coding-system-explicit nil
            pillion-reload--expected (remq expected pillion-reload--expected)))
    (let ((coding-system-for-read (or coding (car-safe buffer-file-coding-system-explicit))))
      (with-current-buffer buffer
        (insert-file-contents path)
        last-coding-system-used))))

(defun pillion-reload--places ()
  "Where each window of the current buffer is: windows, lines and columns."
  (mapcar (lambda (window)
            (save-excursion
              (goto-char (window-point window))
              (list window (line-number-at-pos nil t) (current-column)
                    (line-number-at-pos (window-start window) t))))
          (get-buffer-window-list nil nil t)))

(defun pillion-reload--go-back (places)
  "Bring windows of the current buffer to their PLACES."
  (pcase-dolist (`(,window ,line ,column ,start) places)
    (when (and (window-live-p window) (eq (window-buffer window) (current-buffer)))
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (point-min))
          (forward-line (1- start))
          (set-window-start window (point) t)
          (goto-char (point-min))
          (forward-line (1- line))
          (move-to-column column)
          (set-window-point window (point)))))))

(defun pillion-reload--insert (path _is-auto-save)
  "Change the current buffer to what is in the file PATH, and no more of it."
  (let ((source (generate-new-buffer " *pillion reload*" t))
        (time (file-attribute-modification-time (file-attributes path)))
        (places (pillion-reload--places)))
    (unwind-protect
        (let ((coding (pillion-reload--read path source))
              (inhibit-read-only t))
          (unless (save-restriction
                    (widen)
                    ;; Emacs would ask whether to edit a file that changed on disk.
                    (let ((buffer-file-name nil)
                          (buffer-file-truename nil))
                      (replace-buffer-contents source pillion-reload--max-comparing)))
            (pillion-reload--go-back places))
          ;; Of ASCII alone, what it was before is as good.
          (when coding
            (setq buffer-file-coding-system
                  (cond ((not (eq (coding-system-base coding) 'undecided)) coding)
                        ((integerp (coding-system-eol-type coding))
                         (coding-system-change-eol-conversion
                          buffer-file-coding-system (coding-system-eol-type coding)))
                        (t buffer-file-coding-system))))
          (set-buffer-modified-p nil)
          (set-visited-file-modtime time))
      (kill-buffer source))))

(defun pillion-reload--narrowing ()
  "To what the current buffer is narrowed, or nil.
Two markers, each with whether it is where a line begins or ends."
  (when (buffer-narrowed-p)
    (save-excursion
      (let ((from (copy-marker (point-min))) (to (copy-marker (point-max) t)))
        (save-restriction
          (widen)
          (list from (progn (goto-char from) (bolp))
                to (progn (goto-char to) (eolp))))))))

(defun pillion-reload--narrow (narrowed)
  "Narrow the current buffer to what was NARROWED, unless that is gone."
  (pcase-let ((`(,from ,is-line-start ,to ,is-line-end) narrowed))
    (save-excursion
      (widen)
      ;; What changed beside them may have moved them into a line.
      (goto-char from)
      (when (and is-line-start (not (bolp)))
        (forward-line 1))
      (let ((begin (point)))
        (goto-char to)
        (when is-line-end
          (end-of-line))
        (when (< begin (point))
          (narrow-to-region begin (point)))))
    (set-marker from nil)
    (set-marker to nil)))

(defun pillion-reload--revert (buffer)
  "Reload the file of BUFFER, keeping points, narrowing, folds and undo history."
  (with-current-buffer buffer
    (let ((inhibit-message t)
          (message-log-max nil)
          (revert-without-query '("."))
          (revert-buffer-insert-file-contents-function
           (if (eq revert-buffer-insert-file-contents-function
                   #'revert-buffer-insert-file-contents--default-function)
               #'pillion-reload--insert
             ;; A mode, such as that for archives, has its own.
             revert-buffer-insert-file-contents-function)))
      (let ((narrowed (pillion-reload--narrowing)))
        (condition-case nil
            (revert-buffer t t t)
          (error nil))
        (when narrowed
          (pillion-reload--narrow narrowed))))))

;;; When others read it again

(defvar-local pillion-reload--before-empty nil
  "Where windows were before the file was empty, and when that was.")
(defvar-local pillion-reload--was-empty nil
  "Non-nil if the buffer was empty when reading it again began.")

(defun pillion-reload--before-revert ()
  "Note where windows are, before the buffer may become empty."
  (setq pillion-reload--was-empty (zerop (buffer-size)))
  (unless (or pillion-reload--was-empty pillion--in-command)
    (setq pillion-reload--before-empty (cons (float-time) (pillion-reload--places)))))

(defun pillion-reload--after-revert ()
  "Go back to where windows were before the file was empty."
  (pcase-let ((`(,time . ,places) pillion-reload--before-empty))
    (unless (zerop (buffer-size))
      (setq pillion-reload--before-empty nil)
      (when (and time pillion-reload--was-empty
                 (< (- (float-time) time) pillion-reload--expected-for))
        (pillion-reload--go-back places)))))

(defun pillion-reload--stale-p (&optional no-confirm)
  "Return non-nil if Auto-Revert has to act; NO-CONFIRM is as in Emacs.
It does not while an agent is about to write the file: it would show
what is half written."
  (and (not (pillion-reload--expectation buffer-file-name))
       (buffer-stale--default-function no-confirm)))

;;; Looking

(defun pillion-reload--lines (text)
  "The lines of TEXT, whatever they end with: an agent may have its own endings."
  (string-replace "\r" "\n" (string-replace "\r\n" "\n" text)))

(defun pillion-reload--has-all-p (path buffer)
  "Return non-nil if file PATH has the accepted text, with all that BUFFER has."
  (pcase-let ((`(,_ ,_ ,text ,merged) (pillion-reload--expectation path)))
    (and merged
         (equal merged (pillion-text-of-buffer buffer))
         (equal (pillion-reload--lines text)
                (pillion-reload--lines
                 (with-temp-buffer
                   (let ((coding-system-for-read 'utf-8-unix))
                     (insert-file-contents path))
                   (buffer-string)))))))

(defun pillion-reload--conflicts-p (buffer path)
  "Return non-nil if BUFFER would lose something when PATH is read."
  (and (buffer-modified-p buffer)
       (not (pillion-reload--has-all-p path buffer))))

(defun pillion-reload--look-at (buffer)
  "Reload the file of BUFFER if it changed on disk."
  (let ((path (pillion-file buffer)))
    (when (and path (not (buffer-base-buffer buffer))
               (not (verify-visited-file-modtime buffer))
               (file-regular-p path))
      (if (not (pillion-reload--conflicts-p buffer path))
          (pillion-reload--revert buffer)
        (with-current-buffer buffer
          (let ((time (file-attribute-modification-time (file-attributes path))))
            (unless (equal time pillion-reload--conflict)
              (setq pillion-reload--conflict time)
              (pillion-say "%s changed on disk, and you have unsaved changes. Hint: M-x revert-buffer loads it"
                           (file-name-nondirectory path)))))))))

(defun pillion-reload--buffers ()
  "Those that the person sees, and those that agents write."
  (seq-filter (lambda (buffer)
                (and (pillion-file buffer)
                     (or (get-buffer-window buffer t)
                         (pillion-reload--expectation (pillion-file buffer)))))
              (buffer-list)))

;; Where something unsaved stood in the way, it may be gone.
(defun pillion-reload--look ()
  "Check the files that have changed."
  (let ((news pillion-reload--news))
    (setq pillion-reload--news nil)
    (dolist (buffer (buffer-list))
      (when (or (buffer-local-value 'pillion-reload--conflict buffer)
                ;; With another size it is being written, and told of once more.
                (let ((told (assoc (pillion-file buffer) news)))
                  (and told
                       (equal (cdr told)
                              (file-attribute-size (file-attributes (car told)))))))
        (pillion-reload--look-at buffer)))))

(defun pillion-reload--look-when-free ()
  "Check files as soon as the person is not busy."
  (unless pillion-reload--is-waiting
    (setq pillion-reload--is-waiting t)
    (pillion-wait (lambda () (not (pillion-busy-p)))
                  (lambda ()
                    (setq pillion-reload--is-waiting nil)
                    (pillion-reload--look)))))

(defun pillion-reload--changed (params)
  "A file has another state on the disk: PARAMS."
  (let ((file (assoc (plist-get params :uri) pillion-reload--watched)))
    (when file
      (push (cons (cdr file) (plist-get params :size)) pillion-reload--news)
      (pillion-reload--look-when-free))))

(defun pillion-reload--watch ()
  "Have Pillion tell when the files change that matter now."
  (let* ((now (float-time))
         (paths (append (mapcar #'pillion-file (pillion-reload--buffers))
                        (mapcar #'car (setq pillion-reload--expected
                                            (seq-filter (lambda (it) (> (nth 1 it) now))
                                                        pillion-reload--expected)))))
         (paths (and (pillion-reload--wanted-p) (sort (delete-dups paths) #'string<))))
    (unless (or (equal paths (mapcar #'cdr pillion-reload--watched))
                (not (pillion-client-running-p)))
      (setq pillion-reload--watched (mapcar (lambda (it) (cons (pillion-uri it t) it)) paths))
      (pillion-client-notify :pillion/watch
                             (list :files (vconcat (mapcar #'car pillion-reload--watched)))))))

(defun pillion-reload--windows-changed (&rest _)
  "Have what is on the screen now watched."
  (run-at-time 0 nil #'pillion-reload-check))

(defun pillion-reload-check ()
  "Watch files while agents may write them."
  (pillion-reload--watch)
  (cond ((not (pillion-reload--wanted-p))
         (pillion-reload-detach))
        ((not pillion-reload--is-on)
         (setq pillion-reload--is-on t)
         (add-hook 'window-buffer-change-functions #'pillion-reload--windows-changed)
         (add-hook 'before-revert-hook #'pillion-reload--before-revert)
         (add-hook 'after-revert-hook #'pillion-reload--after-revert))
        (t
         (pillion-reload--look-when-free))))

(defun pillion-reload-expect (path text &optional merged)
  "An agent is about to write TEXT into the file PATH.
MERGED is the text of the person's buffer if all of it is in TEXT."
  (push (list path (+ (float-time) pillion-reload--expected-for) text merged)
        pillion-reload--expected)
  (let ((buffer (pillion-file-buffer path)))
    (when buffer
      (with-current-buffer buffer
        (when (eq buffer-stale-function #'buffer-stale--default-function)
          (setq-local buffer-stale-function #'pillion-reload--stale-p)))))
  (run-at-time pillion-reload--expected-for nil #'pillion-reload-check)
  (pillion-reload-check))

(defun pillion-reload-now (buffer)
  "Read the file of BUFFER again if it is another one, and nothing is unsaved.
Return non-nil if that was done."
  (let ((path (pillion-file buffer)))
    (when (and path (not (buffer-base-buffer buffer)) (not (buffer-modified-p buffer))
               (file-regular-p path) (not (verify-visited-file-modtime buffer)))
      (pillion-reload--revert buffer)
      t)))

(defun pillion-reload-everywhere ()
  "Pillion itself has written files: read them again where nothing is unsaved."
  (mapc #'pillion-reload-now (buffer-list)))

(defun pillion-reload-forget (path)
  "Nobody is about to write the file PATH after all."
  (setq pillion-reload--expected
        (remq (pillion-reload--expectation path) pillion-reload--expected)))

(defun pillion-reload-detach ()
  "Stop checking."
  (setq pillion-reload--is-on nil)
  (remove-hook 'window-buffer-change-functions #'pillion-reload--windows-changed)
  (remove-hook 'before-revert-hook #'pillion-reload--before-revert)
  (remove-hook 'after-revert-hook #'pillion-reload--after-revert))

(setf (alist-get 'pillion/didChangeFile pillion-client-handlers) #'pillion-reload--changed)
(add-hook 'pillion-stopped-hook (lambda () (setq pillion-reload--watched nil)))
(add-hook 'pillion-status-changed-hook #'pillion-reload-check)

(provide 'pillion-reload)
;;; pillion-reload.el ends here
