//! The colours of the screen: by the options, the environment and the terminal.

use crate::screen::{Depth, Theme};
use crate::{ThemeChoice, background};

/// The theme that was chosen, or that suits the terminal.
pub fn theme(choice: ThemeChoice) -> Theme {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let depth = depth(
        &variable("NO_COLOR"),
        &variable("COLORTERM"),
        &variable("TERM"),
    );
    let is_dark = match choice {
        ThemeChoice::Light => false,
        ThemeChoice::Dark => true,
        ThemeChoice::Auto if depth == Depth::None => true,
        ThemeChoice::Auto => background::is_dark(),
    };
    Theme::new(is_dark, depth)
}

/// The number of colours that the terminal has, according to the environment.
fn depth(no_color: &str, colorterm: &str, term: &str) -> Depth {
    if !no_color.is_empty() {
        return Depth::None;
    }
    if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
        return Depth::True;
    }
    let is_basic = ["linux", "vt", "ansi", "cons", "xterm"].contains(&term)
        || term.ends_with("-16color")
        || term == "screen";
    if is_basic {
        Depth::Basic
    } else {
        Depth::Indexed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        assert_eq!(depth("1", "truecolor", "xterm-256color"), Depth::None);
        assert_eq!(depth("", "truecolor", "xterm"), Depth::True);
        assert_eq!(depth("", "", "tmux-256color"), Depth::Indexed);
        assert_eq!(depth("", "", "linux"), Depth::Basic);
    }
}
