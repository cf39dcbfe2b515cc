;;; pillion-menu.el --- The commands of Pillion, to choose from  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; What can be done here, as a transient menu.  It is loaded when it is opened.

;;; Code:

(require 'pillion)
(require 'transient)

;;;###autoload (autoload 'pillion-menu "pillion-menu" nil t)
(transient-define-prefix pillion-menu ()
  "Choose a command of Pillion."
  ["At point"
   :if-derived pillion-changes-mode
   [("RET" "go there" pillion-changes-visit)
    ("TAB" "show it as a diff" pillion-look)]
   [("s" "keep" pillion-keep)
    ("u" "undo" pillion-undo)]
   [("r" "take back" pillion-take-back)
    ("R" "take back for a reason" pillion-take-back-because)]
   [("a" "with what was decided, or without" pillion-changes-toggle-all)]]
  [["Agents"
    ("p" "start, show or hide" pillion-run)
    ("e" "send the file or the region" pillion-send)
    ("f" "send a file" pillion-send-file)
    ("t" "send a text" pillion-ask)
    ("N" "send waiting notes" pillion-send-notes)
    ("w" "when they ask" pillion-review)]
   ["Proposals"
    ("d" "go to one" pillion-diffs)
    ("A" "accept" pillion-accept)
    ("K" "reject" pillion-reject)
    ("n" "note on the line or the region" pillion-note)
    ("m" "merge with the buffer or the disk" pillion-merge)]
   ["Changes"
    ("c" "list them" pillion-changes)
    ("]" "next hunk here" pillion-next-change :transient t)
    ("[" "previous hunk here" pillion-previous-change :transient t)
    ("k" "keep what is at point" pillion-keep)
    ("b" "take back what is at point" pillion-take-back)
    ("B" "take it back for a reason" pillion-take-back-because)
    ("u" "undo" pillion-undo)
    ("v" "show as diffs" pillion-look)
    ("l" "what was decided" pillion-log)]
   ["Pillion"
    ("S" "status" pillion-status)
    ("D" "doctor" pillion-doctor)]])

(provide 'pillion-menu)
;;; pillion-menu.el ends here
