;;; pillion-seen.el --- What of a proposal was on the screen  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Which revision was drawn and since when, when the person began to type, and
;; which hunks have been on the screen.  What follows from that, the program
;; knows.
;;
;; Before a command, the screen is as the last redisplay left it: what a window
;; shows then was seen.  Each hunk of a proposal has an overlay that holds which
;; parts of it were not.

;;; Code:

(require 'pillion-core)
(require 'pillion-proposal)

(defvar pillion-seen--begun-at nil
  "When the person began the key sequence or the prompt in which they are.")

(defconst pillion-seen--burst 0.3
  "Commands that follow each other within so many seconds are one.
A keyboard repeats ten times a second, and most commands are two keys.")

(defvar pillion-seen--decided '(0 . 0)
  "When the person decided last, and when they began to type that.")

;;; Which revision, and since when

(defun pillion-seen--note-drawn (window)
  "WINDOW is about to be drawn: the proposal in it counts from here on."
  (let ((diff (buffer-local-value 'pillion-diff--mine (window-buffer window))))
    (when (and (pillion-diff--pending-p diff)
               (eq (window-buffer window) (pillion-diff-buffer diff))
               (pillion-frame-drawn-p (window-frame window)))
      (pillion-seen--note-scrolled window (window-start window))
      ;; Keys that are half typed were meant for what was there before.
      (when (and (pillion-mid-input-p) (not pillion-seen--begun-at))
        (setq pillion-seen--begun-at (float-time)))
      (unless (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
        (setf (pillion-diff-seen-revision diff) (pillion-diff-revision diff)
              (pillion-diff-seen-since diff) (float-time))
        (when (pillion-diff-came-at diff)
          (setf (pillion-diff-came-at diff) (float-time)))))))
(put 'pillion-seen--note-drawn 'permanent-local-hook t)

(defun pillion-seen--sight (window start)
  "The sight of WINDOW from START on, to be compared with others."
  (let ((buffer (window-buffer window)))
    (list buffer (buffer-chars-modified-tick buffer) start)))

(defun pillion-seen--note-scrolled (window start)
  "WINDOW is drawn from START on."
  (set-window-parameter window 'pillion-sight (pillion-seen--sight window start)))
(put 'pillion-seen--note-scrolled 'permanent-local-hook t)

(defun pillion-seen-before-command ()
  "A command begins: note what the person could see."
  (unless pillion-seen--begun-at
    (setq pillion-seen--begun-at (float-time)))
  (dolist (diff pillion-diff--pending)
    (dolist (window (get-buffer-window-list (pillion-diff-buffer diff) nil t))
      (pillion-seen--note-window window))))

(defun pillion-seen-after-command ()
  "A command has ended; from now on, keys refer to what is on the screen."
  (setq pillion-seen--begun-at nil))

(defun pillion-seen--note-decision ()
  "The person decides: when they began to type that.
A key that is held down gives the same command again and again."
  (let* ((now (float-time))
         (begun-at (if (< (- now (car pillion-seen--decided)) pillion-seen--burst)
                       (cdr pillion-seen--decided)
                     (or pillion-seen--begun-at now))))
    (setq pillion-seen--decided (cons now begun-at))
    begun-at))

(defun pillion-seen--drawn-ms (diff begun-at)
  "For how many milliseconds DIFF was drawn at BEGUN-AT; nil if it never was."
  (and (eql (pillion-diff-seen-revision diff) (pillion-diff-revision diff))
       (max 0 (truncate (* 1000 (- begun-at (pillion-diff-seen-since diff)))))))

(defun pillion-seen (diff is-typed)
  "What the person who decides saw of DIFF; IS-TYPED if they typed that."
  `( :drawnMs ,(pillion-seen--drawn-ms diff (pillion-seen--note-decision))
     :typed ,(if is-typed t :json-false)
     :hunks ,(pillion-seen--hunks diff)))

;;; Which hunks

(defun pillion-seen--touch (overlay &rest _)
  "Who is changing the hunk of OVERLAY has seen it."
  (overlay-put overlay 'pillion-unseen nil))

(defun pillion-seen-begin (diff)
  "Nothing of the proposal of DIFF was on the screen yet."
  (let ((buffer (pillion-diff-buffer diff)))
    (with-current-buffer buffer
      (add-hook 'pre-redisplay-functions #'pillion-seen--note-drawn nil t)
      (add-hook 'window-scroll-functions #'pillion-seen--note-scrolled nil t))
    (pillion-seen-forget diff)
    (setf (pillion-diff-parts diff)
          (mapcar (pcase-lambda (`(,from . ,to))
                    (let ((overlay (make-overlay from to buffer)))
                      ;; From where to where nobody saw it, counted from its beginning.
                      (overlay-put overlay 'pillion-unseen (list (cons 0 (- to from))))
                      (dolist (hook '(modification-hooks insert-in-front-hooks
                                                         insert-behind-hooks))
                        (overlay-put overlay hook '(pillion-seen--touch)))
                      overlay))
                  (pillion-proposal-places buffer (mapcar #'cddr (pillion-diff-hunks diff)))))))

(defun pillion-seen-forget (diff)
  "What was seen of DIFF is another revision."
  (mapc #'delete-overlay (pillion-diff-parts diff))
  (setf (pillion-diff-parts diff) nil))

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

(defun pillion-seen--mark-columns (from to left right)
  "Between FROM and TO, the columns between LEFT and RIGHT are on the screen."
  (goto-char from)
  (while (< (point) to)
    (let ((begin (progn (move-to-column left) (point)))
          (end (progn (move-to-column right) (point))))
      ;; The end of the line is seen with its last character.
      (pillion-seen--mark begin (if (eolp) (min (point-max) (1+ end)) end)))
    (forward-line 1)))

(defun pillion-seen--note-window (window)
  "Note what WINDOW has shown since it was drawn."
  (let ((from (window-start window)) (left (window-hscroll window)))
    (when (and (pillion-frame-drawn-p (window-frame window))
               ;; It may have been scrolled or changed since, and not drawn again.
               (equal (pillion-seen--sight window from) (window-parameter window 'pillion-sight)))
      (with-current-buffer (window-buffer window)
        (save-excursion
          (let ((to (min (window-end window) (point-max))))
            (cond ((and (= (point-min) (point-max)) (= from to))
                   (mapc #'pillion-seen--touch (overlays-in from to)))
                  ((or truncate-lines (> left 0))
                   (pillion-seen--mark-columns from to left
                                               (+ left (1- (window-body-width window)))))
                  (t (pillion-seen--mark from to)))))))))

(defun pillion-seen--hunks (diff)
  "The indexes of the hunks that DIFF came with and that were on the screen."
  (vconcat (seq-remove #'null
                       (seq-map-indexed (lambda (part index)
                                          (and (null (overlay-get part 'pillion-unseen)) index))
                                        (pillion-diff-parts diff)))))

(provide 'pillion-seen)
;;; pillion-seen.el ends here
