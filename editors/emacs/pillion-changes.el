;;; pillion-changes.el --- What agents have written already  -*- lexical-binding: t; -*-

;;; Commentary:

;; The list of what agents have written, by turns, in a buffer of its own, and the
;; commands that keep it or take it back.  The program decides what that means;
;; here is only what is under point, and what is put into buffers.

;;; Code:

(require 'pillion-core)
(require 'pillion-client)
(require 'pillion-others)
(require 'pillion-reload)
(require 'pillion-text)
(require 'pillion-written)

(defconst pillion-changes--name "*pillion changes*"
  "The buffer with the list.")

(defvar-local pillion-changes--has-all nil
  "Non-nil if the list has what was decided, too.")

(defvar-local pillion-changes--done nil
  "What was decided in the list: the ids of changes and turns, the last first.")

(defvar-local pillion-changes--shown nil
  "The row under point as it was drawn last, and since when.
A key that decides counts as if it were drawn anew.")

(defvar-local pillion-changes--pressed nil
  "The row at which the person first pressed a key that decides.
Nil once they have done something else.")

(defun pillion-changes--buffer ()
  "Return the buffer with the list, or nil."
  (get-buffer pillion-changes--name))

(defun pillion-changes--ask (method params answer)
  "Send the request METHOD with PARAMS; ANSWER is called with the result."
  (unless (pillion-client-ask
           method params
           (lambda (result)
             (if result
                 (funcall answer result)
               (pillion-say "the program did not do it; it may be too old"))))
    (user-error "Pillion: not running.  Hint: M-x pillion-start")))

;;; The list

(defun pillion-changes--insert (text face about)
  "Insert the line TEXT in FACE, which is ABOUT a property list."
  (insert (propertize (pillion-plain text) 'face face 'pillion-change about) "\n"))

(defun pillion-changes--insert-file (file)
  "Insert FILE, a change of the list, with its hunks."
  (let* ((is-unseen (eq t (plist-get file :isUnseen)))
         (about (list :id (plist-get file :id) :revision (plist-get file :revision)
                      :path (plist-get file :path) :is-unseen is-unseen
                      :hunks (length (plist-get file :hunks)))))
    (pillion-changes--insert (format "  %-26s %s" (plist-get file :label) (plist-get file :shown))
                             (if is-unseen 'warning 'default)
                             about)
    (seq-do-indexed
     (lambda (hunk nth)
       (let* ((lines (plist-get hunk :lines))
              (first (plist-get lines :start))
              (last (max first (1- (plist-get lines :end)))))
         (pillion-changes--insert
          (format "      line %d: %s" (1+ first) (plist-get hunk :label))
          'shadow
          (append (list :first first :last last :nth nth) about))))
     (plist-get file :hunks))))

(defun pillion-changes--key ()
  "What names the line of point, whatever comes before it in the list."
  (let ((about (pillion-changes--at-point)))
    (when about
      (cons (plist-get about :id) (plist-get about :nth)))))

(defun pillion-changes--keys ()
  "The keys of the lines from that of point on, as far as they have one."
  (save-excursion
    (let ((keys (list (pillion-changes--key))))
      (while (zerop (forward-line 1))
        (push (pillion-changes--key) keys))
      (delq nil (nreverse keys)))))

(defun pillion-changes--go-to (key)
  "Go to the line with this KEY.  Return nil if there is none."
  (goto-char (point-min))
  (while (not (or (equal key (pillion-changes--key)) (eobp)))
    (forward-line 1))
  (not (eobp)))

(defun pillion-changes--draw (answer)
  "Fill the current buffer with what is in ANSWER.
Point stays at what it was at, or goes to what came next."
  (let ((inhibit-read-only t)
        (keys (pillion-changes--keys))
        (line (line-number-at-pos))
        (is-empty t))
    (erase-buffer)
    (seq-doseq (turn (plist-get answer :turns))
      (let ((files (seq-filter (lambda (it)
                                 (or pillion-changes--has-all (eq t (plist-get it :isUnseen))))
                               (plist-get turn :changes))))
        (when files
          (setq is-empty nil)
          (pillion-changes--insert (plist-get turn :title) 'bold
                                   (list :id (plist-get turn :id)
                                         :revision (plist-get turn :revision)))
          (mapc #'pillion-changes--insert-file files))))
    (when is-empty
      (insert (or (plist-get answer :problem) "There are no unseen changes here.") "\n"))
    (let ((left-out (or (plist-get answer :leftOut) 0)))
      (unless (zerop left-out)
        (insert (format "%d more changes are not listed.\n" left-out))))
    (unless (seq-some #'pillion-changes--go-to keys)
      (goto-char (point-min))
      (forward-line (1- line)))))

(defun pillion-changes-refresh (&rest _)
  "Ask for the list anew: for its buffer, and for what is marked in others."
  (interactive)
  (pillion-changes--ask
   :pillion/changes (make-hash-table)
   (lambda (answer)
     (pillion-written-show (plist-get answer :turns))
     (when (pillion-changes--buffer)
       (with-current-buffer (pillion-changes--buffer)
         (pillion-changes--draw answer)
         (dolist (window (get-buffer-window-list nil nil t))
           (set-window-point window (point))))))))

(defun pillion-changes-toggle-all ()
  "List what was decided, too, or only what nobody has seen."
  (interactive)
  (setq pillion-changes--has-all (not pillion-changes--has-all))
  (pillion-changes-refresh))

(defvar pillion-changes-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'pillion-changes-visit)
    (define-key map (kbd "TAB") #'pillion-look)
    (define-key map "s" #'pillion-keep)
    (define-key map "r" #'pillion-take-back)
    (define-key map "R" #'pillion-take-back-because)
    (define-key map "u" #'pillion-undo)
    (dolist (key '("n" "j"))
      (define-key map key #'next-line))
    (dolist (key '("p" "k"))
      (define-key map key #'previous-line))
    (define-key map "a" #'pillion-changes-toggle-all)
    (define-key map "?" #'pillion-menu)
    map)
  "Keys in the list of what agents have written.")

(declare-function pillion-menu "pillion-menu" ())
(declare-function evil-set-initial-state "ext:evil-core" (mode state))

(define-derived-mode pillion-changes-mode special-mode "Pillion-Changes"
  "What agents have written, by turns.
On a turn, a file or a hunk: \\<pillion-changes-mode-map>\\[pillion-changes-visit] goes \
there, \\[pillion-look] shows it as a diff,
\\[pillion-keep] keeps it, \\[pillion-take-back] takes it back,
\\[pillion-take-back-because] takes it back for a reason, \\[pillion-undo] undoes that.
\\[pillion-changes-toggle-all] shows what was decided, too, \
\\[pillion-menu] all there is."
  (setq-local revert-buffer-function #'pillion-changes-refresh)
  (add-hook 'pre-redisplay-functions #'pillion-changes--note-shown nil t)
  (add-hook 'post-command-hook #'pillion-changes--note-command nil t))

;;;###autoload
(defun pillion-changes ()
  "List what agents have written in this project, whether they asked or not."
  (interactive)
  (with-current-buffer (get-buffer-create pillion-changes--name)
    (unless (derived-mode-p 'pillion-changes-mode)
      ;; Its keys are no commands on a text.
      (when (fboundp 'evil-set-initial-state)
        (evil-set-initial-state 'pillion-changes-mode 'emacs))
      (pillion-changes-mode))
    (pillion-changes-refresh)
    (pop-to-buffer (current-buffer))))

(defun pillion-changes--at-point ()
  "What is under point in the list, as a property list; nil if nothing is."
  (when (derived-mode-p 'pillion-changes-mode)
    (get-text-property (line-beginning-position) 'pillion-change)))

(defun pillion-changes--here ()
  "What is under point: in the list a property list, elsewhere nil."
  (or (pillion-changes--at-point)
      (when (derived-mode-p 'pillion-changes-mode)
        (user-error "Pillion: no change is under point"))))

(defun pillion-changes--note-shown (window)
  "WINDOW is about to be drawn: note the row of point in it."
  (when (and (eq window (selected-window)) (pillion-frame-drawn-p (window-frame window)))
    (let ((row (pillion-changes--at-point)))
      (unless (equal row (car pillion-changes--shown))
        (setq pillion-changes--shown (cons row (float-time)))))))

(defun pillion-changes--note-command ()
  "The person has done something: what is under point is what they went to."
  (unless (memq this-command '(pillion-keep pillion-take-back pillion-take-back-because))
    (setq pillion-changes--pressed nil)))

(defun pillion-changes--rested-ms (row)
  "For how many milliseconds ROW has been under point without a key that decides."
  (when (equal row (car pillion-changes--shown))
    (max 0 (floor (* 1000 (- (float-time) (cdr pillion-changes--shown)))))))

(defun pillion-changes--press (row)
  "A key decides about ROW: what the program is told of how it came there."
  (unless pillion-changes--pressed
    (setq pillion-changes--pressed row))
  (let ((rested (pillion-changes--rested-ms row)))
    (when rested
      (setcdr pillion-changes--shown (float-time)))
    (list :row `( :isChosen ,(if (equal row pillion-changes--pressed) t :json-false)
                  ,@(and rested (list :restedMs rested))))))

(defun pillion-changes--named-row (about)
  "The fields of a request that name the row ABOUT which a key decides."
  (append (list :id (plist-get about :id)) (pillion-changes--press about)))

(defun pillion-changes-visit ()
  "Go to the file or the hunk under point."
  (interactive)
  (let* ((about (pillion-changes--here))
         (path (plist-get about :path)))
    (cond ((not path) (user-error "Pillion: this is a turn; go to one of its files"))
          ((not (file-regular-p path)) (user-error "Pillion: this file is not there")))
    (let ((buffer (find-file-other-window path)))
      (with-current-buffer buffer
        (goto-char (point-min))
        (forward-line (or (plist-get about :first) 0))))))

;;; Deciding

(defun pillion-changes--file-here ()
  "The `file:' URI of the file in the current buffer."
  (let ((file (pillion-file (current-buffer))))
    (unless file
      (user-error "Pillion: this buffer has no file.  Hint: M-x pillion-changes"))
    (pillion-uri file)))

(defun pillion-changes--open (this)
  "Pair buffers of unsaved files, and THIS one, with what is sent of them."
  (delq nil
        (mapcar
         (lambda (buffer)
           (let ((file (pillion-file buffer)))
             (when (and file (not (buffer-base-buffer buffer))
                        (or (eq buffer this) (buffer-modified-p buffer)))
               (cons buffer
                     (list :uri (pillion-uri file)
                           :content (pillion-valid (pillion-text-of-buffer buffer))
                           :isModified (if (buffer-modified-p buffer) t :json-false))))))
         (buffer-list))))

(defun pillion-changes--apply (edit sent)
  "Put what EDIT has into its buffer, which still has what was SENT.
Return nil if it has another text by now."
  (let* ((buffer (pillion-file-buffer (plist-get edit :path)))
         (told (cdr (assq buffer sent))))
    (when (and told (equal (plist-get told :content)
                           (pillion-valid (pillion-text-of-buffer buffer))))
      (let ((coding (buffer-local-value 'buffer-file-coding-system buffer)))
        (pillion-text-replace buffer (plist-get edit :content))
        (with-current-buffer buffer
          (setq buffer-file-coding-system coding)
          (set-buffer-modified-p t)))
      t)))

(defun pillion-changes--act (method params sent &optional about)
  "Send METHOD with PARAMS, in which the buffers were SENT, and do what follows.
In the list, what is decided is ABOUT what was under point."
  (pillion-others-refuse)
  (pillion-changes--ask
   method params
   (lambda (result)
     (pillion-say-all "%s" (or (plist-get result :message) ""))
     (when (and about (eq t (plist-get result :done)) (pillion-changes--buffer))
       (with-current-buffer (pillion-changes--buffer)
         (push (plist-get about :id) pillion-changes--done)))
     (seq-doseq (edit (plist-get result :edits))
       (unless (pillion-changes--apply edit sent)
         (pillion-say "the buffer was edited meanwhile: nothing was taken out of it")
         (pillion-client-ask :pillion/undo (list :id (plist-get edit :id)) #'ignore)))
     (pillion-reload-everywhere)
     (pillion-changes-refresh))))

;;;###autoload
(defun pillion-keep (&optional ask)
  "Keep what an agent has written: it counts as seen.
In the list, the turn or the file under point; elsewhere, what stands at
point.  A hunk is not kept by itself: of several, you are asked in the
list whether all are meant.  With a prefix argument, ASK for a note,
which the agent gets."
  (interactive "P")
  ;; The list may be another one once the note was typed.
  (let* ((here (pillion-changes--here))
         (row (and here (pillion-changes--named-row here)))
         (about (pillion-changes--whole here))
         (params (if about
                     (append row (list :revision (plist-get about :revision)))
                   (let ((line (1- (line-number-at-pos nil t))))
                     (list :uri (pillion-changes--file-here)
                           :at (list :first line :last line)
                           :buffers (vconcat (mapcar #'cdr (pillion-changes--open
                                                            (current-buffer))))))))
         (note (when ask
                 (read-string (format "Note for the agent on %s: "
                                      (pillion-changes--named about))))))
    (pillion-changes--act :pillion/keep (append params (pillion-changes--notes note)) nil about)))

(defun pillion-changes--whole (about)
  "What is ABOUT this as a whole, if the person means that."
  (let ((hunks (or (plist-get about :hunks) 0)))
    (when (and (plist-get about :first) (> hunks 1)
               (not (y-or-n-p (format "%s has %d hunks, and is kept as a whole; keep it? "
                                      (plist-get about :id) hunks))))
      (user-error "Pillion: nothing was kept"))
    (and about (plist-put (copy-sequence about) :first nil))))

(defun pillion-changes--named (about)
  "The words by which a prompt names what is ABOUT this."
  (cond ((not about) "this file")
        ((not (plist-get about :path)) (format "turn %s" (plist-get about :id)))
        ((plist-get about :first)
         (format "%s, line %d" (plist-get about :id) (1+ (plist-get about :first))))
        (t (plist-get about :id))))

(defun pillion-changes--notes (text)
  "The person's words to the agent, TEXT or nil, as a request has them."
  (when text
    (list :notes (vector (list :text (pillion-valid text))))))

(defun pillion-changes--lines ()
  "The lines of the region, or that of point, from 0."
  (if (use-region-p)
      (list :first (1- (line-number-at-pos (region-beginning) t))
            :last (1- (line-number-at-pos (max (region-beginning) (1- (region-end))) t)))
    (let ((line (1- (line-number-at-pos nil t))))
      (list :first line :last line))))

(defun pillion-changes--take-back (whole asks)
  "Take back what is under point, or WHOLE of the file.
If it ASKS, the person types a reason for that first."
  ;; All of it is found out before: the list, and point, may be elsewhere once the reason was typed.
  (let* ((about (pillion-changes--here))
         (path (plist-get about :path))
         (this (if about (and path (pillion-file-buffer path)) (current-buffer)))
         (sent (pillion-changes--open this))
         (first (plist-get about :first))
         (lines (cond ((and about first)
                       (list :first first :last (plist-get about :last)))
                      ((not (or about whole)) (pillion-changes--lines))))
         (is-modified (and this (buffer-modified-p this)))
         (params
          (append (if about
                      (append (pillion-changes--named-row about)
                              ;; A buffer that is not saved is another text than what was listed.
                              (unless is-modified
                                (list :revision (plist-get about :revision))))
                    (list :uri (pillion-changes--file-here)))
                  (when lines (list :lines lines))
                  (list :buffers (vconcat (mapcar #'cdr sent)))))
         (reason (when asks
                   (read-string (format "Reason for taking back %s: "
                                        (cond (about (pillion-changes--named about))
                                              (lines "these lines")
                                              (t "this file")))))))
    (pillion-changes--act :pillion/takeBack
                          (append params (pillion-changes--notes reason)) sent about)))

;;;###autoload
(defun pillion-take-back (&optional whole)
  "Take back what an agent has written at point, or in the region.
With a prefix argument, WHOLE, all of the file.  In the list, what is
under point: a turn, a file or a hunk.  What you have written yourself
stays; a buffer with unsaved changes is changed and not saved.
The agent is told."
  (interactive "P")
  (pillion-changes--take-back whole nil))

;;;###autoload
(defun pillion-take-back-because (&optional whole)
  "Take back what an agent has written, and tell the agent the reason.
What is meant, with a prefix argument WHOLE or without, is as in
`pillion-take-back'."
  (interactive "P")
  (pillion-changes--take-back whole t))

;;;###autoload
(defun pillion-undo ()
  "Undo what was kept or taken back last.
In the list, what was done last there; in a list of everything, what was
done with what is under point."
  (interactive)
  (let ((id (when (derived-mode-p 'pillion-changes-mode)
              (pillion-changes--to-undo))))
    (pillion-changes--act :pillion/undo (if id (list :id id) (make-hash-table)) nil)))

(defun pillion-changes--to-undo ()
  "The id of what is undone in the list."
  (let ((about (and pillion-changes--has-all (pillion-changes--at-point))))
    (cond ((and about (not (plist-get about :is-unseen))) (plist-get about :id))
          (pillion-changes--done (pop pillion-changes--done))
          (t (user-error "Pillion: nothing was decided in this list.  \
Hint: M-x pillion-undo elsewhere undoes what was done last")))))

;;;###autoload
(defun pillion-look ()
  "Show as a diff what an agent has written.
In the list, the turn or the file under point; elsewhere, the newest
turn that has something."
  (interactive)
  (let ((about (pillion-changes--here)))
    (pillion-changes--act :pillion/look (list :id (plist-get about :id)) nil)))

(defvar pillion-changes--number nil
  "The number of the list, as the program told last.")

(defun pillion-changes--on-status ()
  "Ask for the list anew if it is another one, and somebody sees it."
  (let ((number (pillion-client-get :changes)))
    (unless (equal number pillion-changes--number)
      (setq pillion-changes--number number)
      (pillion-changes--look-soon))))

(defvar pillion-changes--timer nil
  "What asks for the list in a moment.")

(defun pillion-changes--look-soon ()
  "Ask for the list in a moment, if somebody sees it then."
  (unless (memq pillion-changes--timer timer-list)
    (setq pillion-changes--timer
          (run-at-time 0 nil (lambda ()
                               (when (and (pillion-client-running-p)
                                          (or pillion-marks
                                              (get-buffer-window pillion-changes--name t)))
                                 (pillion-changes-refresh)))))))

(defun pillion-changes--on-file ()
  "The buffer and its file are the same now: hunks may be elsewhere."
  (when (pillion-written-hunks (current-buffer))
    (pillion-changes--look-soon)))

(add-hook 'pillion-status-changed-hook #'pillion-changes--on-status)
(dolist (hook '(find-file-hook after-revert-hook after-save-hook))
  (add-hook hook #'pillion-changes--on-file))

(provide 'pillion-changes)
;;; pillion-changes.el ends here
