//! The command line of the reviewer's editor: the program, and its arguments for line and waiting.

use std::ffi::OsString;
use std::path::Path;

use pillion_system::SearchPath;
use pillion_text::visible;

/// The words of the reviewer's editor.
#[derive(Debug, PartialEq, Eq)]
pub struct EditorCommand {
    program: String,
    arguments: Vec<String>,
}

/// The way in which an editor takes the line at which to open a file.
enum LineStyle {
    /// `+N FILE`
    Plus,
    /// `FILE:N`
    Colon,
    /// `--goto FILE:N`
    Goto,
    /// Nobody knows.
    None,
}

impl EditorCommand {
    /// The command of `VISUAL`, else of `EDITOR`, else one that every system has.
    ///
    /// # Errors
    /// One sentence that names the variable that cannot be read.
    pub fn new(visual: Option<OsString>, editor: Option<OsString>) -> Result<Self, String> {
        for (name, value) in [("VISUAL", visual), ("EDITOR", editor)] {
            let Some(value) = value else { continue };
            let value = value
                .into_string()
                .map_err(|_| format!("${name} is not UTF-8"))?;
            let mut words = shell_words::split(&value)
                .map_err(|error| format!("${name}: {error}"))?
                .into_iter();
            if let Some(program) = words.next().filter(|word| !word.is_empty()) {
                let arguments = words.collect();
                return Ok(Self { program, arguments });
            }
        }
        let program = if cfg!(windows) { "notepad" } else { "vi" };
        Ok(Self {
            program: program.to_owned(),
            arguments: Vec::new(),
        })
    }

    /// The same with the path of its program: nothing searches folders, which may hang, when it is started. Waits
    /// for their disks.
    #[must_use]
    pub fn located(self, search: &SearchPath) -> Self {
        if self.program.contains(['/', '\\']) {
            return self;
        }
        let found = search.programs(&self.program).next();
        let found = found.and_then(|path| path.into_os_string().into_string().ok());
        let program = found.unwrap_or(self.program);
        Self { program, ..self }
    }

    /// The program to start.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The name that people use for it.
    pub fn name(&self) -> String {
        visible::one_line(self.stem())
    }

    /// The arguments that open `file` at `line`, from 1, and wait until it is closed.
    pub fn arguments(&self, file: &Path, line: usize) -> Vec<OsString> {
        let (style, waits) = match self.stem() {
            "vi" | "vim" | "nvim" | "view" | "nano" | "pico" | "emacs" | "emacsclient" | "kak"
            | "micro" | "joe" | "mg" | "jed" | "ne" | "vis" => (LineStyle::Plus, None),
            "gvim" | "mvim" => (LineStyle::Plus, Some(["-f", "--nofork"])),
            "hx" | "helix" => (LineStyle::Colon, None),
            "subl" | "zed" | "zeditor" => (LineStyle::Colon, Some(["--wait", "-w"])),
            "code" | "code-insiders" | "codium" | "vscodium" | "cursor" | "windsurf" => {
                (LineStyle::Goto, Some(["--wait", "-w"]))
            }
            _ => (LineStyle::None, None),
        };
        let mut arguments: Vec<OsString> = self.arguments.iter().map(Into::into).collect();
        // Without it the command ends at once, and the text that is written later is lost.
        let says = |option: &&str| self.arguments.iter().any(|argument| argument == option);
        if let Some(options) = waits.filter(|options| !options.iter().any(says)) {
            arguments.push(options[0].into());
        }
        let with_line = || {
            let mut place = file.as_os_str().to_owned();
            place.push(format!(":{line}"));
            place
        };
        match style {
            LineStyle::Plus => arguments.extend([format!("+{line}").into(), file.into()]),
            LineStyle::Colon => arguments.push(with_line()),
            LineStyle::Goto => arguments.extend(["--goto".into(), with_line()]),
            LineStyle::None => arguments.push(file.into()),
        }
        arguments
    }

    fn stem(&self) -> &str {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_windows = |end: &&str| name.to_ascii_lowercase().ends_with(end);
        match [".exe", ".cmd", ".bat"].iter().find(|end| is_windows(end)) {
            Some(end) => &name[..name.len() - end.len()],
            None => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(editor: &str) -> String {
        let command = EditorCommand::new(None, Some(editor.into())).unwrap();
        let arguments = command.arguments(Path::new("/t/a.rs"), 12);
        let words = arguments.iter().map(|word| word.to_str().unwrap());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_own_way() {
        for editor in ["vi", "/usr/bin/nvim", "nano", "kak", "micro"] {
            assert_eq!(line(editor), "+12 /t/a.rs", "{editor}");
        }
        assert_eq!(line("emacs -nw"), "-nw +12 /t/a.rs");
        assert_eq!(line("hx"), "/t/a.rs:12");
        assert_eq!(line("an-editor"), "/t/a.rs");
        assert_eq!(line("env FOO=1 vim"), "FOO=1 vim /t/a.rs");
    }

    #[test]
    fn an_editor_with_a_window_of_its_own_is_waited_for() {
        assert_eq!(line("code"), "--wait --goto /t/a.rs:12");
        assert_eq!(line("code -w"), "-w --goto /t/a.rs:12");
        assert_eq!(line("'C:\\VS Code\\Code.exe' --wait"), "--wait /t/a.rs");
        assert_eq!(
            line("'C:\\VS Code\\bin\\code.cmd'"),
            "--wait --goto /t/a.rs:12"
        );
        assert_eq!(line("gvim"), "-f +12 /t/a.rs");
        assert_eq!(line("subl"), "--wait /t/a.rs:12");
    }
}
