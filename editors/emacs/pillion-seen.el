;;; pillion-seen.el --- What of a proposal was on the screen  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Which revision was drawn and since when, when the person began to type, and
;; which hunks have been on the screen.  What follows from that, the program
;; knows.
;;
;; Before a command, and a moment after a redisplay, the screen is as that left
;; it: what a window shows then was seen.  Each hunk of a proposal has an overlay
;; that holds which parts of it were not, so that edits move it.  Of a line that
;; replaces another, that is what differs; of lines that are removed, those in
;; the window of the original, if there is one.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)
(require 'pillion-view)

(defconst pillion-seen--drawn-after 0.05
  "So many seconds after Emacs began to draw, what is there is on the screen.")

(defconst pillion-seen--margin 4
  "So many columns are left of what is gone to sideways.")

(defvar pillion-seen--timer nil)

(defvar pillion-seen--begun-at nil
  "When the person began the key sequence or the prompt in which they are.")

(defconst pillion-seen--burst 0.3
  "Commands that follow each other within so many seconds are one.
A keyboard repeats ten times a second, and most commands are two keys.")

(defvar pillion-seen--decided '(0 . 0)
  "When the person decided last, and when they began to type that.")

(defvar pillion-seen--pauses nil
  "Milliseconds before each decision since the last one that was sent.
The newest is first.  What is typed while an answer is awaited shows
that a key is held down.")

;;; Which revision, and since when

(defun pillion-seen--note-drawn (window)
  "WINDOW is about to be drawn: the proposal in it counts from here on."
  (let ((diff (buffer-local-value 'pillion-diff--mine (window-buffer window))))
    (when (and (pillion-diff--pending-p diff) (pillion-frame-drawn-p (window-frame window)))
      (pillion-seen--note-scrolled window (window-start window))
      ;; Keys that are half typed were meant for what was there before.
      (when (and (pillion-mid-input-p) (not pillion-seen--begun-at))
        (setq pillion-seen--begun-at (float-time)))
      (unless (or (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
                  (not (eq (window-buffer window) (pillion-diff-buffer diff))))
        (setf (pillion-diff-seen-revision diff) (pillion-diff-revision diff)
              (pillion-diff-seen-since diff) (float-time))
        (when (pillion-diff-came-at diff)
          (setf (pillion-diff-came-at diff) (float-time))))
      (unless (or (eql (pillion-diff-seen-count diff) (length (pillion-diff-parts diff)))
                  (equal (pillion-seen--view diff window) (window-parameter window 'pillion-looked)))
        (pillion-seen--look-soon)))))
(put 'pillion-seen--note-drawn 'permanent-local-hook t)

(defun pillion-seen--sight (window start)
  "The sight of WINDOW from START on, to be compared with others."
  (let ((buffer (window-buffer window)))
    (list buffer (buffer-chars-modified-tick buffer) start (window-hscroll window))))

(defun pillion-seen--view (diff window)
  "Return the state of WINDOW of DIFF; an equal one is no news."
  (list (pillion-diff-revision diff) (window-point window) (window-body-height window)
        (window-body-width window) (pillion-seen--sight window (window-start window))))

(defun pillion-seen--look-soon ()
  "Look at what is on the screen when the redisplay is over that is about to be."
  (unless (memq pillion-seen--timer timer-list)
    (setq pillion-seen--timer
          (run-at-time pillion-seen--drawn-after nil #'pillion-seen--look))))

(defun pillion-seen--on-scroll (window start)
  "WINDOW is drawn from START on, which it was not before."
  (pillion-seen--note-scrolled window start)
  (pillion-seen--look-soon))
(put 'pillion-seen--on-scroll 'permanent-local-hook t)

(defun pillion-seen--note-scrolled (window start)
  "WINDOW is drawn from START on."
  (set-window-parameter window 'pillion-sight (pillion-seen--sight window start)))

(defun pillion-seen-before-command ()
  "A command begins: note what the person could see."
  (unless pillion-seen--begun-at
    (setq pillion-seen--begun-at (float-time)))
  (mapc #'pillion-seen--note-windows pillion-diff--pending))

(defun pillion-seen--note-windows (diff)
  "Note what the windows of DIFF show, and how many hunks have been there."
  (mapc #'pillion-seen--note-window (pillion-seen--windows diff))
  (let ((count (length (pillion-seen--hunks diff))))
    (unless (eql count (pillion-diff-seen-count diff))
      (setf (pillion-diff-seen-count diff) count)
      (with-current-buffer (pillion-diff-buffer diff)
        (force-mode-line-update)))))

(defun pillion-seen--windows (diff)
  "The windows of both texts of DIFF."
  (let ((original (pillion-diff-original-buffer diff)))
    (append (get-buffer-window-list (pillion-diff-buffer diff) nil t)
            (and (buffer-live-p original) (get-buffer-window-list original nil t)))))

(defun pillion-seen--look ()
  "A redisplay is over."
  (dolist (diff pillion-diff--pending)
    (dolist (window (pillion-seen--windows diff))
      ;; While it drew, Emacs may have brought point into view sideways.
      (when (equal (take 3 (pillion-seen--sight window (window-start window)))
                   (take 3 (window-parameter window 'pillion-sight)))
        (pillion-seen--note-scrolled window (window-start window))
        (set-window-parameter window 'pillion-looked (pillion-seen--view diff window))))
    (pillion-seen--note-windows diff)))

(defun pillion-seen-after-command ()
  "A command has ended; from now on, keys refer to what is on the screen."
  (setq pillion-seen--begun-at nil))

(defun pillion-seen--note-decision ()
  "The person decides: when they began to type that.
A key that is held down gives the same command again and again."
  (let* ((now (float-time))
         (pause (max 0 (- now (car pillion-seen--decided))))
         ;; A clock that was set back does not make it earlier than now.
         (begun-at (min now (if (< pause pillion-seen--burst)
                                (cdr pillion-seen--decided)
                              (or pillion-seen--begun-at now)))))
    (push (truncate (* 1000 pause)) pillion-seen--pauses)
    (setq pillion-seen--decided (cons now begun-at))
    begun-at))

(defun pillion-seen--drawn-ms (diff begun-at)
  "For how many milliseconds DIFF was drawn at BEGUN-AT; nil if it never was."
  ;; After the clock was set back, it begins anew.
  (when (and (pillion-diff-seen-since diff) (> (pillion-diff-seen-since diff) (float-time)))
    (setf (pillion-diff-seen-since diff) (float-time)))
  (and (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
       (max 0 (truncate (* 1000 (- begun-at (pillion-diff-seen-since diff)))))))

(defun pillion-seen (diff is-typed)
  "Return what the person saw of DIFF; IS-TYPED if they typed the decision."
  `( :drawnMs ,(pillion-seen--drawn-ms diff (pillion-seen--note-decision))
     :typed ,(if is-typed t :json-false)
     :pausesMs ,(vconcat (reverse pillion-seen--pauses))
     :hunks ,(pillion-seen--hunks diff)))

(defun pillion-seen-sent ()
  "What the person saw is on its way to the program."
  (setq pillion-seen--pauses nil))

;;; Which hunks

(defvar pillion-seen-is-from-others nil
  "Non-nil while text is put into a proposal that nobody types.")

(defun pillion-seen--touch (overlay &rest _)
  "Who is changing the hunk of OVERLAY has seen it.
What undo brings back may be anybody's."
  (let ((is-others (or pillion-seen-is-from-others undo-in-progress))
        (size (- (overlay-end overlay) (overlay-start overlay))))
    (when (overlay-get overlay 'pillion-unseen)
      (overlay-put overlay 'pillion-unseen (and is-others (list (cons 0 size)))))))

(defun pillion-seen--on-change (overlay is-after &rest _)
  "Note that the hunk of OVERLAY is about to change, or has if IS-AFTER.
Some commands report all of the buffer as changed."
  (when (overlay-get overlay 'pillion-unseen)
    (let ((text (buffer-substring-no-properties (overlay-start overlay) (overlay-end overlay))))
      (cond ((not is-after) (overlay-put overlay 'pillion-before text))
            ((not (equal text (overlay-get overlay 'pillion-before)))
             (pillion-seen--touch overlay))))))

(defun pillion-seen--on-insert (overlay is-after &rest _)
  "Text comes beside OVERLAY, or has come if IS-AFTER: where lines were removed?"
  (when (and is-after (= (overlay-start overlay) (overlay-end overlay)))
    (pillion-seen--touch overlay)))

(defun pillion-seen--needed (buffer place parts first)
  "Return what must be seen of the lines of BUFFER at PLACE, from FIRST on.
Pairs of positions, counted from its beginning: PARTS of lines, as the
program tells them, and all of the other lines."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (car place))
        (let ((all (- (cdr place) (car place))) (line first) (at 0) needed)
          (seq-doseq (part parts)
            (forward-line (- (plist-get part :line) line))
            (setq line (plist-get part :line))
            (let ((start (- (point) (car place))))
              (when (< at start)
                (push (cons at start) needed))
              (push (cons (+ start (plist-get part :start)) (+ start (plist-get part :end))) needed)
              (setq at (min all (- (line-beginning-position 2) (car place))))))
          (when (or (< at all) (null needed))
            (push (cons at all) needed))
          (nreverse needed))))))

(defun pillion-seen--removed (original hunk old)
  "An overlay of the lines at OLD in ORIGINAL, if HUNK has fewer than these.
Nil if it has another line in the place of each."
  (when (and original (> (nth 1 hunk) (nth 3 hunk)))
    (let ((overlay (make-overlay (car old) (cdr old) original)))
      (overlay-put overlay 'pillion-unseen (list (cons 0 (- (cdr old) (car old)))))
      overlay)))

(defun pillion-seen--unseen (part)
  "The overlay of PART in which something was not on the screen, or nil.
Where the original is in no window, its lines cannot be."
  (let ((removed (overlay-get part 'pillion-removed)))
    (cond ((overlay-get part 'pillion-unseen) part)
          ((and removed (overlay-get removed 'pillion-unseen)
                (get-buffer-window (overlay-buffer removed) t))
           removed))))

(defun pillion-seen-begin (diff)
  "Nothing of the proposal of DIFF was on the screen yet."
  (let* ((buffer (pillion-diff-buffer diff))
         (original (pillion-diff-original-buffer diff))
         (hunks (pillion-diff-hunks diff))
         (new (pillion-proposal-places buffer (mapcar #'cddr hunks)))
         (old (if original
                  (pillion-proposal-places original (mapcar (lambda (it) (take 2 it)) hunks))
                new)))
    (dolist (it (if original (list buffer original) (list buffer)))
      (with-current-buffer it
        (add-hook 'pre-redisplay-functions #'pillion-seen--note-drawn nil t)
        (add-hook 'window-scroll-functions #'pillion-seen--on-scroll nil t)))
    (pillion-seen-forget diff)
    (setf (pillion-diff-parts diff)
          (cl-mapcar (lambda (hunk old new told)
                       (let ((overlay (make-overlay (car new) (cdr new) buffer)))
                         ;; From where to where nobody saw it, counted from its beginning.
                         (overlay-put overlay 'pillion-unseen
                                      (pillion-seen--needed
                                       buffer new (plist-get told :parts) (nth 2 hunk)))
                         (overlay-put overlay 'modification-hooks '(pillion-seen--on-change))
                         (dolist (hook '(insert-in-front-hooks insert-behind-hooks))
                           (overlay-put overlay hook '(pillion-seen--on-change
                                                       pillion-seen--on-insert)))
                         (overlay-put overlay 'pillion-removed
                                      (pillion-seen--removed original hunk old))
                         overlay))
                     hunks old new (pillion-diff-told diff)))))

(defun pillion-seen-forget (diff)
  "Forget what was seen of DIFF: it has another revision now."
  (dolist (it (pillion-diff-parts diff))
    (when (overlay-get it 'pillion-removed)
      (delete-overlay (overlay-get it 'pillion-removed)))
    (delete-overlay it))
  (setf (pillion-diff-parts diff) nil
        (pillion-diff-seen-count diff) nil))

(defun pillion-seen--without (ranges from to)
  "RANGES without what is between FROM and TO."
  (mapcan (pcase-lambda (`(,begin . ,end))
            (if (or (< to begin) (< end from))
                (list (cons begin end))
              (append (and (< begin from) (list (cons begin from)))
                      (and (< to end) (list (cons to end))))))
          ranges))

(defun pillion-seen--mark (from to)
  "The text between FROM and TO of the current buffer is on the screen."
  (while (< from to)
    (let ((end (next-single-char-property-change from 'invisible nil to)))
      (unless (invisible-p from)
        ;; Of lines that were removed, what is beside their place.
        (dolist (it (overlays-in (max (point-min) (1- from)) (min (point-max) (1+ end))))
          (let ((unseen (overlay-get it 'pillion-unseen))
                (start (overlay-start it)))
            (when unseen
              (overlay-put it 'pillion-unseen
                           (pillion-seen--without unseen (- from start) (- end start)))))))
      (setq from end))))

(defun pillion-seen--mark-columns (from to window)
  "Between FROM and TO, the columns that WINDOW has room for are on the screen."
  (let* ((here (window-point window))
         (numbers (with-selected-window window (line-number-display-width)))
         (width (- (window-body-width window) (if (zerop numbers) 0 (+ 2 numbers)))))
    (goto-char from)
    (while (< (point) to)
      (let* ((is-scrolled (or (not (eq auto-hscroll-mode 'current-line))
                              (<= (point) here (line-end-position))))
             (left (if is-scrolled (window-hscroll window) 0))
             ;; A mark stands in for the first column, and for the last.
             (begin (progn (move-to-column (if (> left 0) (1+ left) 0)) (point)))
             (end (progn (move-to-column (+ left (1- width))) (point))))
        (unless (eolp)
          (when (and (= (1+ end) (line-end-position)) (<= (+ 1 (current-column)) (+ left width)))
            (setq end (1+ end))))
        ;; The end of the line is seen with its last character.
        (pillion-seen--mark begin (if (= end (line-end-position)) (min (point-max) (1+ end)) end)))
      (forward-line 1))))

(defun pillion-seen--note-window (window)
  "Note what WINDOW has shown since it was drawn."
  (let ((from (window-start window)))
    (when (and (pillion-frame-drawn-p (window-frame window))
               ;; It may have been scrolled or changed since, and not drawn again.
               (equal (pillion-seen--sight window from) (window-parameter window 'pillion-sight)))
      (with-current-buffer (window-buffer window)
        (save-excursion
          (let ((to (min (window-end window) (point-max))))
            (cond ((and (= (point-min) (point-max)) (= from to))
                   (mapc #'pillion-seen--touch (overlays-in from to)))
                  ((or truncate-lines (> (window-hscroll window) 0))
                   (pillion-seen--mark-columns from to window))
                  (t (pillion-seen--mark from to)))))))))

(defun pillion-seen--hunks (diff)
  "The indexes of the hunks that DIFF came with and that were on the screen."
  (vconcat (seq-remove #'null
                       (seq-map-indexed (lambda (part index)
                                          (and (null (pillion-seen--unseen part)) index))
                                        (pillion-diff-parts diff)))))

;;; What is next

(defun pillion-seen-next (diff position)
  "Where something of DIFF was not on the screen: a buffer and a position.
That is in the hunk at POSITION, in one after it, or in the first one.
Nil if there is nothing."
  (let* ((parts (seq-filter #'pillion-seen--unseen (pillion-diff-parts diff)))
         (part (or (seq-find (lambda (it) (>= (overlay-end it) position)) parts)
                   (car parts)))
         (overlay (and part (pillion-seen--unseen part))))
    (and overlay
         (cons (overlay-buffer overlay)
               (+ (overlay-start overlay) (caar (overlay-get overlay 'pillion-unseen)))))))

(defun pillion-seen--go-to (position)
  "Bring POSITION of the selected window into view, with what follows it."
  (unless (<= (point-min) position (point-max))
    (widen))
  (goto-char position)
  (when (invisible-p position)
    ;; Folded, or the address of a link.
    (setq buffer-invisibility-spec nil))
  (recenter (min next-screen-context-lines (/ (window-body-height) 4)))
  (let ((column (current-column)) (width (window-body-width)))
    (when (< column (window-hscroll))
      (set-window-hscroll nil 0))
    (when (and truncate-lines (>= column (+ (window-hscroll) (- width 1))))
      (if auto-hscroll-mode
          ;; It brings point into the middle.
          (move-to-column (+ column (max 0 (- (/ width 2) pillion-seen--margin))))
        (set-window-hscroll nil (- column pillion-seen--margin))))))

(defun pillion-seen--has-unseen (diff)
  "Return non-nil if some of DIFF was not on the screen."
  (pillion-seen-next diff 1))

;;;###autoload
(defun pillion-next-unseen ()
  "Go on to what was not on the screen yet.
That is the next page of a long hunk, or what changed in a line that is
cut off, then the next hunk, then the proposal for another file."
  (interactive)
  (let* ((focused (pillion-view-focused))
         (diff (if (pillion-diff--pending-p focused) focused (car pillion-diff--pending)))
         (window (and diff (get-buffer-window (pillion-diff-buffer diff))))
         (next (and window (pillion-seen-next diff (window-point window))))
         (after (cdr (memq diff pillion-diff--pending)))
         (other (seq-find #'pillion-seen--has-unseen (append after pillion-diff--pending))))
    (cond ((not diff)
           (user-error "Pillion: no diff is pending"))
          ((not (and window (eq diff focused)))
           (pillion-view-go-to diff))
          (next
           (pcase-let ((`(,buffer . ,position) next))
             (with-selected-window (get-buffer-window buffer t)
               (push-mark nil t)
               (pillion-seen--go-to position)
               (unless (eq buffer (pillion-diff-original-buffer diff))
                 (pillion-proposal-follow)))))
          (other
           (pillion-view-go-to other)
           (pillion-say "this is the next diff: %s" (pillion-proposal-name other)))
          (t
           (pillion-say "all of it has been on the screen")))))

(provide 'pillion-seen)
;;; pillion-seen.el ends here
