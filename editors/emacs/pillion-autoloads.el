;;; pillion-autoloads.el --- What is loaded when it is needed  -*- no-byte-compile: t; lexical-binding: t; -*-

;; For `pillion install emacs'; package managers write their own.

;;; Code:

(add-to-list 'load-path (directory-file-name
                         (file-name-directory (or load-file-name buffer-file-name))))

(autoload 'pillion-mode "pillion" "Serve terminal coding agents as their companion." t)
(autoload 'pillion-start "pillion" "Start the companion." t)
(autoload 'pillion-stop "pillion" "Stop the companion." t)
(autoload 'pillion-restart "pillion" "Stop the companion, and start it again." t)
(autoload 'pillion-review "pillion" "Choose when agents ask before they change files." t)
(autoload 'pillion-changes "pillion" "List what agents have written." t)
(autoload 'pillion-keep "pillion" "Keep what an agent has written." t)
(autoload 'pillion-take-back "pillion" "Take back what an agent has written at point." t)
(autoload 'pillion-take-back-because "pillion" "Take it back, and tell the agent why." t)
(autoload 'pillion-undo "pillion" "Undo what was kept or taken back." t)
(autoload 'pillion-look "pillion" "Show as a diff what an agent has written." t)
(autoload 'pillion-next-change "pillion" "Go to the next unseen hunk of an agent's." t)
(autoload 'pillion-previous-change "pillion" "Go to the previous unseen hunk of an agent's." t)
(autoload 'pillion-log "pillion" "Show what was decided in this project." t)
(autoload 'pillion-menu "pillion-menu" "Choose a command of Pillion." t)
(autoload 'pillion-ask "pillion" "Put a text into the prompt of an agent." t)
(autoload 'pillion-send-notes "pillion" "Send agents the notes that wait for your next prompt." t)
(autoload 'pillion-status "pillion" "Show what Pillion is doing." t)
(autoload 'pillion-doctor "pillion" "Check the program, the companion and the agents." t)
(autoload 'pillion-run "pillion" "Start an agent in a terminal beside your files." t)
(autoload 'pillion-send "pillion" "Put the current file, or the region, into the prompt of an agent." t)
(autoload 'pillion-send-file "pillion" "Put a file into the prompt of an agent." t)
(autoload 'pillion-diffs "pillion" "Go to the pending proposal." t)
(autoload 'pillion-accept "pillion" "Accept a proposal as it stands in its view." t)
(autoload 'pillion-reject "pillion" "Reject a proposal." t)
(autoload 'pillion-note "pillion" "Write a note on lines of a proposal." t)
(autoload 'pillion-next-unseen "pillion" "Go on to what of a proposal was not on the screen yet." t)
(autoload 'pillion-merge "pillion" "Merge the proposal with what you have not saved." t)
(autoload 'pillion-diff-two-windows "pillion" "Show a proposal in two windows.")
(autoload 'pillion-diff-ediff "pillion" "Show a proposal with Ediff.")

(provide 'pillion-autoloads)
;;; pillion-autoloads.el ends here
