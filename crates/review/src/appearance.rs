//! The colours of the screen: by the options, the environment and the terminal.

use std::time::Duration;

use terminal_colorsaurus::{Color, QueryOptions, color_palette};

use crate::ThemeChoice;
use crate::screen::{Depth, Theme};

/// The time limit for a terminal to report its background.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);

/// The theme that was chosen, or that suits the terminal.
pub fn theme(choice: ThemeChoice) -> Theme {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let depth = depth(
        &variable("NO_COLOR"),
        &variable("COLORTERM"),
        &variable("TERM"),
    );
    let is_dark = match choice {
        ThemeChoice::Light | ThemeChoice::ColorblindLight => false,
        ThemeChoice::Dark | ThemeChoice::ColorblindDark => true,
        ThemeChoice::Auto | ThemeChoice::Colorblind => depth == Depth::None || is_dark(),
    };
    match choice {
        ThemeChoice::Auto | ThemeChoice::Light | ThemeChoice::Dark => Theme::new(is_dark, depth),
        _ => Theme::blue_orange(is_dark, depth),
    }
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

/// Asks the terminal whether its background is dark. One that does not answer counts as dark.
fn is_dark() -> bool {
    let mut options = QueryOptions::default();
    options.timeout = ANSWER_TIMEOUT;
    color_palette(options).map_or(true, |palette| {
        is_darker(luma(&palette.background), luma(&palette.foreground))
    })
}

/// Returns true if a background is dark, seen beside its foreground.
fn is_darker(background: u32, foreground: u32) -> bool {
    const MIDDLE: u32 = u16::MAX as u32 / 2;
    background < foreground || (background == foreground && background <= MIDDLE)
}

/// The brightness of a colour, as television reckons it: up to `u16::MAX`.
///
/// The lightness that the crate knows is worked out with `powf`, which alone would make every command
/// load the system's library of mathematics at its start.
fn luma(color: &Color) -> u32 {
    let [r, g, b] = [color.r, color.g, color.b].map(u32::from);
    (2126 * r + 7152 * g + 722 * b) / 10_000
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

    #[test]
    fn grounds_of_known_themes_are_told_apart() {
        let color = |hex: u32| {
            let channel = |shift: u32| (hex >> shift & 0xff) as u16 * 0x101;
            luma(&Color::rgb(channel(16), channel(8), channel(0)))
        };
        // Background and foreground: Solarized, Gruvbox, Dracula, Nord, One Light, plain ones.
        for (dark, light) in [
            (0x00_2b36, 0x83_9496),
            (0x28_2828, 0xeb_dbb2),
            (0x28_2a36, 0xf8_f8f2),
            (0x2e_3440, 0xd8_dee9),
            (0x65_7b83, 0xfd_f6e3),
            (0x38_3a42, 0xfa_fafa),
            (0x00_0000, 0xff_ffff),
            (0x00_00ff, 0xff_ff00),
        ] {
            assert!(is_darker(color(dark), color(light)), "{dark:06x}");
            assert!(!is_darker(color(light), color(dark)), "{light:06x}");
        }
    }

    #[test]
    fn without_contrast_the_middle_decides() {
        let grey = |value| luma(&Color::rgb(value, value, value));
        for value in [0, 0x5555, 0x7fff] {
            assert!(is_darker(grey(value), grey(value)), "{value:x}");
        }
        for value in [0x8000, 0xaaaa, u16::MAX] {
            assert!(!is_darker(grey(value), grey(value)), "{value:x}");
        }
    }
}
