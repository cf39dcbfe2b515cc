;;; pillion-pkg.el --- What package.el reads  -*- no-byte-compile: t; lexical-binding: t; -*-
(define-package "pillion" "0.1.0"
  "The companion for terminal coding agents."
  '((emacs "29.1")))
