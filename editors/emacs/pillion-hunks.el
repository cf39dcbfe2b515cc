;;; pillion-hunks.el --- What differs between two texts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Compares lines by Myers' algorithm.  A hunk is a list (OLD OLD-COUNT NEW
;; NEW-COUNT): so many lines from the line OLD on, counted from 0, became so
;; many from the line NEW on.

;;; Code:

(defconst pillion-hunks--max-edits 400
  "Where more lines than this differ, all that is left is one hunk.")

(defun pillion-hunks--steps (old new from end-old end-new)
  "How far each number of edits leads from FROM in OLD and NEW.
They end before END-OLD and END-NEW.  A list of hash tables by
diagonal, the last one first; nil where too much differs."
  (let ((reach (make-hash-table)) (trace nil) (edits 0) (found nil)
        (width (- end-old from)) (height (- end-new from)))
    (puthash 1 0 reach)
    (while (and (not found) (<= edits pillion-hunks--max-edits))
      (push (copy-hash-table reach) trace)
      (let ((k (- edits)))
        (while (and (not found) (<= k edits))
          (let* ((down (or (= k (- edits))
                           (and (/= k edits)
                                (< (gethash (1- k) reach -1) (gethash (1+ k) reach -1)))))
                 (x (if down (gethash (1+ k) reach) (1+ (gethash (1- k) reach))))
                 (y (- x k)))
            (while (and (< x width) (< y height)
                        (string= (aref old (+ from x)) (aref new (+ from y))))
              (setq x (1+ x) y (1+ y)))
            (puthash k x reach)
            (when (and (>= x width) (>= y height))
              (setq found t)))
          (setq k (+ k 2))))
      (setq edits (1+ edits)))
    (and found trace)))

(defun pillion-hunks--path (trace x y)
  "The edits of TRACE that lead to X and Y: lists (X Y IS-ADDED)."
  (let ((edits nil) (count (1- (length trace))))
    (dolist (reach trace)
      (let* ((k (- x y))
             (down (or (= k (- count))
                       (and (/= k count)
                            (< (gethash (1- k) reach -1) (gethash (1+ k) reach -1)))))
             (before (if down (1+ k) (1- k)))
             (from-x (gethash before reach))
             (from-y (- from-x before)))
        (when (> count 0)
          (push (list from-x from-y down) edits))
        (setq x from-x y from-y count (1- count))))
    edits))

(defun pillion-hunks--join (edits from)
  "The hunks that EDITS make, counted from the line FROM."
  (let ((hunks nil))
    (pcase-dolist (`(,x ,y ,is-added) edits)
      (let* ((old (+ from x)) (new (+ from y)) (last (car hunks)))
        (unless (and last
                     (= old (+ (nth 0 last) (nth 1 last)))
                     (= new (+ (nth 2 last) (nth 3 last))))
          (push (list old 0 new 0) hunks))
        (let ((place (nthcdr (if is-added 3 1) (car hunks))))
          (setcar place (1+ (car place))))))
    (nreverse hunks)))

(defun pillion-hunks-between (old new)
  "What differs between the lists of lines OLD and NEW."
  (let* ((old (vconcat old)) (new (vconcat new))
         (end-old (length old)) (end-new (length new))
         (from 0))
    (while (and (< from end-old) (< from end-new) (string= (aref old from) (aref new from)))
      (setq from (1+ from)))
    (while (and (> end-old from) (> end-new from)
                (string= (aref old (1- end-old)) (aref new (1- end-new))))
      (setq end-old (1- end-old) end-new (1- end-new)))
    (cond
     ((and (= from end-old) (= from end-new)) nil)
     ((or (= from end-old) (= from end-new))
      (list (list from (- end-old from) from (- end-new from))))
     (t
      (let ((trace (pillion-hunks--steps old new from end-old end-new)))
        (if trace
            (pillion-hunks--join
             (pillion-hunks--path trace (- end-old from) (- end-new from)) from)
          (list (list from (- end-old from) from (- end-new from)))))))))

(provide 'pillion-hunks)
;;; pillion-hunks.el ends here
