//! Emacs, by its keys and its own channel.

use std::path::Path;

use pillion_testkit::{EmacsSetup, EmacsVersion};
use serde_json::Value;

use crate::driver::{Editor, Habit, PILLION, Start};

const AUTOSAVE: &str = "(setq auto-save-visited-interval 1) (auto-save-visited-mode 1)
    (defvar saves 0)
    (defun save-everything (&rest _)
      (setq saves (1+ saves))
      (save-some-buffers t)
      (when (and (buffer-modified-p) (or buffer-file-name (bound-and-true-p pillion-diff-mode))) (save-buffer)))
    (run-with-idle-timer 0.1 t #'save-everything)
    (add-hook 'window-selection-change-functions #'save-everything)";

const TIDY_FILES: &str =
    "(setq require-final-newline t mode-require-final-newline t) (setq-default fill-column 20)
    (add-hook 'text-mode-hook #'turn-on-auto-fill)
    (add-hook 'before-save-hook #'delete-trailing-whitespace)";

/// The layout, where the person is, mark and region, kill ring, registers, undo, options, buffers.
const TRACES: &str = "(mapcar (lambda (it) (format \"%S\" it)) (list (window-state-get nil t) (length (window-list)) \
    (format \"%s\" (selected-window)) (point) (window-start) (mark t) mark-active mark-ring global-mark-ring kill-ring register-alist \
    (seq-remove (lambda (it) (markerp (car-safe it))) buffer-undo-list) (buffer-modified-p) buffer-file-name major-mode \
    minor-mode-alist buffer-read-only (buffer-list) \
    last-kbd-macro search-ring command-history (local-variable-p 'pillion-diff--mine) window-combination-resize \
    (frame-list) (current-buffer) winner-mode ediff-mode-hook pre-command-hook \
    (seq-remove (lambda (it) (string-suffix-p \"-check-buffers\" (format \"%s\" it))) post-command-hook) kill-emacs-query-functions))";

pub struct Emacs {
    emacs: pillion_testkit::Emacs,
}

impl Emacs {
    pub fn start(version: EmacsVersion, start: &Start<'_>) -> Emacs {
        let habit = match start.habit {
            Habit::None => "",
            Habit::Autosave => AUTOSAVE,
            Habit::TidyFiles => TIDY_FILES,
        };
        let mut setup = EmacsSetup::new(version, start.home)
            .pillion(PILLION)
            .cwd(&start.cwd)
            .init(habit)
            .init("(require 'ediff) (require 'winner) (pillion-mode 1)");
        for file in &start.files {
            setup = setup.arg(file);
        }
        let emacs = setup.in_tmux(start.tmux);
        Emacs { emacs }
    }

    fn is(&self, condition: &str) -> bool {
        self.emacs.get(&format!("(if {condition} t :json-false)"))
    }
}

impl Editor for Emacs {
    fn accept_times(&self, times: usize) {
        self.emacs.input(&"<C-c><C-c>".repeat(times));
    }

    fn reject(&self) {
        self.emacs.input("<C-c><C-k>");
    }

    fn reject_because(&self, reason: &str) {
        self.emacs
            .input_until("<C-u><C-c><C-k>", "(active-minibuffer-window)");
        self.emacs.input(&format!("{reason}<RET>"));
    }

    fn close(&self) {
        self.emacs.input("<C-x>k<RET>");
    }

    fn command(&self, name: &str, word: &str) {
        self.emacs.input(&format!("<M-x>pillion-{name}<RET>"));
        if !word.is_empty() {
            self.emacs.input(&format!("{word}<RET>"));
        }
    }

    fn append(&self, line: &str) {
        let is_there = format!("(string-suffix-p \"\\n{line}\\n\" (buffer-string))");
        self.emacs
            .input_until(&format!("<M-gt>{line}<RET>"), &is_there);
    }

    fn undo(&self) {
        let before = self.text();
        self.emacs.input_until(
            "<C-/>",
            &format!("(not (equal (buffer-string) {before:?}))"),
        );
        // The line and its end are two changes.
        if !self.text().ends_with('\n') {
            self.emacs
                .input_until("<C-/>", "(string-suffix-p \"\\n\" (buffer-string))");
        }
    }

    fn begin_typing(&self, text: &str) {
        let is_there = format!("(string-suffix-p \"\\n{text}\\n\" (buffer-string))");
        self.emacs
            .input_until(&format!("<M-gt><RET><C-p>{text}"), &is_there);
    }

    fn type_on(&self, text: &str) {
        self.emacs.input(text);
    }

    fn end_typing(&self) {
        self.emacs.input_until("<C-a>", "(bolp)");
    }

    fn go_to(&self, line: u32) {
        let down = "<C-n>".repeat(line as usize - 1);
        let is_there = format!("(and (not mark-active) (bolp) (= (line-number-at-pos) {line}))");
        // C-g would throw away what is typed after it.
        self.emacs.eval("(deactivate-mark)");
        self.emacs.input_until(&format!("<M-lt>{down}"), &is_there);
    }

    fn select(&self, line: u32, characters: u32) {
        self.go_to(line);
        let further = "<C-f>".repeat(characters as usize);
        self.emacs.input_until(
            &format!("<C-SPC>{further}"),
            &format!("(and mark-active (= (- (point) (mark)) {characters}))"),
        );
    }

    fn open_terminal(&self) {
        self.emacs
            .input_until("<C-x>3<C-x>o<M-x>term<RET>", "(minibufferp)");
        self.emacs.input_until(
            "<RET>",
            "(and (eq major-mode 'term-mode) (get-buffer-process (current-buffer)))",
        );
    }

    fn enter_terminal(&self) {
        self.emacs
            .input_until("<C-x>o", "(eq major-mode 'term-mode)");
    }

    fn leave_terminal(&self) {
        self.emacs
            .input_until("<C-c>o", "(not (eq major-mode 'term-mode))");
    }

    fn save_by_code(&self) {
        self.emacs
            .eval("(save-some-buffers t) (save-buffer) (basic-save-buffer)");
    }

    fn autosaves(&self) -> u32 {
        self.emacs.get("saves")
    }

    fn wait_read(&self) {
        self.emacs.pane().wait_read();
    }

    fn show_proposal(&self) {
        self.emacs.command("pillion-diffs");
    }

    fn is_running(&self) -> bool {
        self.is("(and (pillion-client-running-p) (pillion-client-get :port))")
    }

    fn knows(&self, agent: &str) -> bool {
        self.is(&format!(
            "(member \"{agent}\" (mapcar (lambda (it) (plist-get it :name)) (pillion-client-get :agents)))"
        ))
    }

    fn has_in_status_line(&self, text: &str) -> bool {
        self.emacs
            .get::<String>("(pillion-mode-line)")
            .contains(text)
    }

    fn is_in_proposal(&self) -> bool {
        self.is("(string-prefix-p \"*Proposal\" (buffer-name))")
    }

    fn may_accept(&self) -> bool {
        self.emacs.has_looked()
    }

    fn has_views(&self) -> bool {
        self.is("(seq-some (lambda (it) (local-variable-p 'pillion-diff--mine it)) (buffer-list))")
    }

    fn sees(&self, text: &str) -> bool {
        self.emacs.pane().screen().contains(text)
    }

    fn text(&self) -> String {
        self.emacs.get("(buffer-string)")
    }

    fn file_text(&self, path: &Path) -> String {
        let path = path.display().to_string();
        self.emacs.get(&format!(
            "(with-current-buffer (get-file-buffer {path:?}) (buffer-string))"
        ))
    }

    fn has_kept(&self, text: &str) -> bool {
        self.is(&format!(
            "(seq-some (lambda (it) (with-current-buffer it (and (buffer-modified-p) \
             (string-prefix-p \"*Kept\" (buffer-name)) (equal (buffer-string) {text:?})))) (buffer-list))"
        ))
    }

    fn traces(&self) -> Value {
        self.emacs.get(TRACES)
    }

    fn assert_no_errors(&self) {
        self.emacs.assert_no_errors();
    }

    fn describe(&self) -> String {
        self.emacs.describe()
    }

    fn try_to_quit(&self, _way: usize) -> bool {
        self.emacs.input("<C-x><C-c>");
        true
    }

    fn quit(&self) {
        self.emacs.quit();
    }

    fn kill(&self) {
        self.emacs.kill();
    }
}
