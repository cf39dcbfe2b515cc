//! Tells the person at the terminal that a proposal came, in the ways that they chose. Text of an agent
//! or a path reaches the terminal harmless. Builds what is to be written; writes nothing.

use pillion_text::visible;

/// A title or a message has at most so many columns.
const MAX_TEXT: usize = 80;

/// Remembers the window's title, so that it can be given back.
pub const PUSH_TITLE: &str = "\u{1b}[22;2t";

/// Gives the title back.
pub const POP_TITLE: &str = "\u{1b}[23;2t";

/// How a terminal announces a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Notify {
    /// Do not notify
    None,
    /// Ring the terminal's bell; tmux marks the window
    Bell,
    /// Show what is pending in the window title; the old title is restored on exit
    Title,
    /// Show a desktop notification, in terminals that support OSC 9
    Osc9,
}

/// The ways that were chosen, and the current title.
#[derive(Debug)]
pub struct Notifier {
    ways: Vec<Notify>,
    /// True if tmux is between us and the terminal.
    is_in_tmux: bool,
    title: Option<String>,
}

impl Notifier {
    /// Nothing was announced yet.
    pub fn new(ways: Vec<Notify>, is_in_tmux: bool) -> Self {
        Self {
            ways,
            is_in_tmux,
            title: None,
        }
    }

    /// Returns true if the title is ours.
    pub fn has_title(&self) -> bool {
        self.ways.contains(&Notify::Title)
    }

    /// The output that announces these proposals, each named in a sentence.
    pub fn arrived(&self, proposals: &[String]) -> String {
        let mut written = String::new();
        let Some(last) = proposals.last() else {
            return written;
        };
        if self.ways.contains(&Notify::Bell) {
            written.push('\u{7}');
        }
        if self.ways.contains(&Notify::Osc9) {
            let text = match proposals.len() {
                1 => last.clone(),
                count => format!("{last}, and {} more", count - 1),
            };
            let message = format!("\u{1b}]9;{}\u{7}", harmless(&text));
            if self.is_in_tmux {
                // It hands on what is wrapped so, if the user allows that.
                let message = message.replace('\u{1b}', "\u{1b}\u{1b}");
                written.push_str(&format!("\u{1b}Ptmux;{message}\u{1b}\\"));
            } else {
                written.push_str(&message);
            }
        }
        written
    }

    /// The output that makes `title` the title.
    pub fn title(&mut self, title: impl FnOnce() -> String) -> Option<String> {
        if !self.has_title() {
            return None;
        }
        let title = harmless(&title());
        if self.title.as_ref() == Some(&title) {
            return None;
        }
        let written = format!("\u{1b}]2;{title}\u{7}");
        self.title = Some(title);
        Some(written)
    }

    /// Another program had the terminal: the title is to be written again.
    pub fn forget(&mut self) {
        self.title = None;
    }
}

fn harmless(text: &str) -> String {
    visible::head(&visible::one_line(text), MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "Gemini CLI proposes a\u{7}\u{1b}]0;taken over\u{9c}\u{202e}\n.rs";

    fn notifier(ways: &[Notify]) -> Notifier {
        Notifier::new(ways.to_vec(), false)
    }

    #[test]
    fn nothing_is_written_unless_it_was_chosen() {
        for ways in [&[][..], &[Notify::None]] {
            let mut notifier = notifier(ways);
            assert_eq!(notifier.arrived(&[HOSTILE.to_owned()]), "");
            assert_eq!(notifier.title(|| "a".to_owned()), None);
            assert!(!notifier.has_title());
        }
    }

    #[test]
    fn several_proposals_at_once_ring_once() {
        let notifier = notifier(&[Notify::Bell, Notify::Osc9]);
        assert_eq!(notifier.arrived(&[]), "");
        let proposals = ["one", "two", "three"].map(str::to_owned);
        let written = notifier.arrived(&proposals);
        assert_eq!(written, "\u{7}\u{1b}]9;three, and 2 more\u{7}");
    }

    #[test]
    fn what_an_agent_says_ends_no_sequence_and_begins_none() {
        let mut notifier = notifier(&[Notify::Title, Notify::Osc9]);
        let written = notifier.arrived(&[HOSTILE.to_owned()]);
        let title = notifier.title(|| HOSTILE.to_owned()).unwrap();
        for (written, start) in [(written, "\u{1b}]9;"), (title, "\u{1b}]2;")] {
            let text = written.strip_prefix(start).unwrap();
            let text = text.strip_suffix('\u{7}').unwrap();
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(text.contains('␛') && !text.contains('\u{202e}'), "{text:?}");
        }
        let long = notifier.title(|| "x".repeat(10_000)).unwrap();
        assert!(long.len() < 100, "{long}");
    }

    #[test]
    fn tmux_is_asked_to_hand_on() {
        let notifier = Notifier::new(vec![Notify::Osc9], true);
        let written = notifier.arrived(&["a".to_owned()]);
        assert_eq!(written, "\u{1b}Ptmux;\u{1b}\u{1b}]9;a\u{7}\u{1b}\\");
    }

    #[test]
    fn a_title_is_written_when_it_changed_or_somebody_else_had_the_terminal() {
        let mut notifier = notifier(&[Notify::Title]);
        let mut title = |text: &str| notifier.title(|| text.to_owned()).is_some();
        assert!(title("a"));
        assert!(!title("a"));
        assert!(title("b"));
        notifier.forget();
        assert!(notifier.title(|| "b".to_owned()).is_some());
    }
}
