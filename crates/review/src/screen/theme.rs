//! The colours: dark and light, for terminals with many colours, few or none.

use pillion_judge::syntax::Class;
use ratatui::style::{Color, Modifier, Style};

/// The number of colours that a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// None are wanted.
    None,
    /// The first sixteen, which every user chooses for themselves.
    Basic,
    /// 256.
    Indexed,
    /// All.
    True,
}

/// The style of each thing.
#[derive(Debug, Clone)]
pub struct Theme {
    /// Things of little weight: rules, unchanged numbers, hints.
    pub muted: Style,
    /// The name of the program, of a file.
    pub strong: Style,
    /// An agent's name.
    pub agent: Style,
    /// A key that can be pressed.
    pub key: Style,
    /// A message for information.
    pub info: Style,
    /// Something that is done or well.
    pub good: Style,
    /// Something that needs care.
    pub warning: Style,
    /// The current hunk's mark and the current tab.
    pub current: Style,
    /// Where what is searched for stands.
    pub hit: Style,
    /// Something invisible that is shown by a stand-in.
    pub stand_in: Style,
    /// A hunk that is taken out.
    pub out: Style,
    /// The lines of such a hunk that would have been added.
    pub struck: Style,
    /// The place where one side has no line.
    pub missing: Style,
    /// A folded region.
    pub fold: Style,
    /// Added lines.
    pub added: Change,
    /// Removed lines.
    pub removed: Change,
    /// Lines that stand elsewhere on the other side.
    pub moved: Change,
    /// Marks are of ASCII, and characters of a text that are not are `?`.
    pub is_ascii: bool,
    classes: [Style; 7],
}

/// The styles of changed lines.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The sign and the number.
    pub sign: Style,
    /// The line.
    pub line: Style,
    /// The words that changed.
    pub word: Style,
    /// Spaces at the end of the line.
    pub spaces: Style,
}

/// A colour for each depth: red, green, blue; of the 256; of the sixteen.
type Tone = ((u8, u8, u8), u8, Color);

struct Palette {
    muted: Tone,
    agent: Tone,
    good: Tone,
    warning: Tone,
    current: Tone,
    stand_in: Tone,
    /// The text of changed words: no colour of the syntax can be read on every tint.
    text: Tone,
    missing: Tone,
    added: Tints,
    removed: Tints,
    /// Lines that are elsewhere as well: no words of them change.
    moved: Tints,
    /// Comment, string, constant, keyword, function, type, name: as in [`Class`], after what is plain.
    classes: [Tone; 7],
}

struct Tints {
    sign: Tone,
    line: Tone,
    word: Tone,
}

const DARK: Palette = Palette {
    muted: ((128, 134, 145), 245, Color::DarkGray),
    agent: ((122, 178, 240), 75, Color::Cyan),
    good: ((110, 200, 130), 78, Color::Green),
    warning: ((230, 180, 90), 179, Color::Yellow),
    current: ((240, 200, 110), 221, Color::Yellow),
    stand_in: ((235, 150, 90), 217, Color::Magenta),
    text: ((244, 246, 250), 231, Color::Reset),
    missing: ((58, 62, 70), 237, Color::DarkGray),
    added: Tints {
        sign: ((110, 200, 130), 114, Color::Green),
        line: ((20, 46, 32), 22, Color::Reset),
        word: ((32, 92, 54), 28, Color::Reset),
    },
    removed: Tints {
        sign: ((240, 125, 120), 210, Color::Red),
        line: ((58, 26, 30), 52, Color::Reset),
        word: ((122, 42, 48), 88, Color::Reset),
    },
    moved: Tints {
        sign: ((190, 170, 235), 183, Color::Magenta),
        line: ((44, 40, 62), 236, Color::Reset),
        word: ((80, 72, 116), 60, Color::Reset),
    },
    classes: [
        ((140, 147, 160), 251, Color::DarkGray),
        ((150, 210, 190), 115, Color::Cyan),
        ((240, 180, 130), 223, Color::Yellow),
        ((205, 165, 250), 219, Color::Magenta),
        ((130, 185, 250), 153, Color::Blue),
        ((235, 210, 140), 222, Color::Yellow),
        ((150, 200, 235), 117, Color::Cyan),
    ],
};

const LIGHT: Palette = Palette {
    muted: ((110, 116, 126), 242, Color::DarkGray),
    agent: ((10, 90, 190), 25, Color::Blue),
    good: ((15, 120, 50), 28, Color::Green),
    warning: ((150, 90, 0), 94, Color::Magenta),
    current: ((175, 95, 0), 130, Color::Magenta),
    stand_in: ((170, 55, 0), 88, Color::Magenta),
    text: ((16, 18, 22), 16, Color::Reset),
    missing: ((210, 214, 220), 253, Color::Gray),
    added: Tints {
        sign: ((15, 120, 50), 22, Color::Green),
        line: ((220, 246, 226), 194, Color::Reset),
        word: ((150, 218, 168), 114, Color::Reset),
    },
    removed: Tints {
        sign: ((190, 30, 40), 124, Color::Red),
        line: ((255, 231, 230), 224, Color::Reset),
        word: ((255, 192, 190), 217, Color::Reset),
    },
    moved: Tints {
        sign: ((110, 70, 170), 91, Color::Magenta),
        line: ((238, 234, 248), 255, Color::Reset),
        word: ((200, 186, 230), 146, Color::Reset),
    },
    classes: [
        ((95, 102, 112), 240, Color::DarkGray),
        ((10, 105, 100), 23, Color::Cyan),
        ((140, 66, 0), 58, Color::Magenta),
        ((115, 50, 175), 91, Color::Magenta),
        ((20, 80, 180), 25, Color::Blue),
        ((125, 90, 0), 58, Color::Cyan),
        ((0, 95, 140), 24, Color::Blue),
    ],
};

/// Blue is added, orange is removed: whoever takes red for green tells these apart.
const BLUE_ORANGE_DARK: Palette = Palette {
    good: ((110, 175, 250), 75, Color::Cyan),
    added: Tints {
        sign: ((110, 175, 250), 75, Color::Cyan),
        line: ((16, 38, 74), 17, Color::Reset),
        word: ((30, 84, 150), 25, Color::Reset),
    },
    removed: Tints {
        sign: ((245, 165, 85), 215, Color::Yellow),
        line: ((62, 36, 12), 52, Color::Reset),
        word: ((130, 74, 16), 94, Color::Reset),
    },
    ..DARK
};

const BLUE_ORANGE_LIGHT: Palette = Palette {
    good: ((10, 85, 190), 25, Color::Blue),
    added: Tints {
        sign: ((10, 85, 190), 25, Color::Blue),
        line: ((222, 236, 255), 189, Color::Reset),
        word: ((168, 204, 255), 111, Color::Reset),
    },
    removed: Tints {
        sign: ((160, 75, 0), 94, Color::Red),
        line: ((255, 236, 214), 230, Color::Reset),
        word: ((255, 190, 120), 223, Color::Reset),
    },
    ..LIGHT
};

impl Theme {
    /// The colours for a dark or a light terminal. Without any, weight, underlines and signs show everything.
    pub fn new(dark: bool, depth: Depth) -> Self {
        Self::of(if dark { &DARK } else { &LIGHT }, depth)
    }

    /// The same, without red and green.
    pub fn blue_orange(dark: bool, depth: Depth) -> Self {
        let palette = if dark {
            &BLUE_ORANGE_DARK
        } else {
            &BLUE_ORANGE_LIGHT
        };
        Self::of(palette, depth)
    }

    fn of(palette: &Palette, depth: Depth) -> Self {
        let colour = |tone: Tone| match depth {
            Depth::True => Color::Rgb(tone.0.0, tone.0.1, tone.0.2),
            Depth::Indexed => Color::Indexed(tone.1),
            Depth::Basic | Depth::None => tone.2,
        };
        let none = Style::new();
        let bold = none.add_modifier(Modifier::BOLD);
        // What has a colour, or else is set off by something else.
        let tinted = |tone: Tone, otherwise: Modifier| match depth {
            Depth::None => none.add_modifier(otherwise),
            _ => none.fg(colour(tone)),
        };
        let fg = |tone| tinted(tone, Modifier::empty());
        let change = |tints: &Tints| {
            let sign = tinted(tints.sign, Modifier::BOLD);
            let (line, word) = match depth {
                Depth::None => (none, none.add_modifier(Modifier::UNDERLINED)),
                Depth::Basic => (sign, sign.add_modifier(Modifier::REVERSED)),
                Depth::Indexed | Depth::True => {
                    let tint = |tone| none.bg(colour(tone));
                    (tint(tints.line), tint(tints.word).fg(colour(palette.text)))
                }
            };
            Change {
                sign,
                line,
                word,
                spaces: fg(tints.sign),
            }
        };
        let agent = fg(palette.agent).add_modifier(Modifier::BOLD);
        let faint = tinted(palette.muted, Modifier::DIM);
        let has_syntax = matches!(depth, Depth::Indexed | Depth::True);
        Self {
            muted: fg(palette.muted),
            strong: bold,
            agent,
            key: bold,
            info: agent,
            good: fg(palette.good),
            warning: tinted(palette.warning, Modifier::BOLD),
            current: fg(palette.current).add_modifier(Modifier::BOLD),
            hit: fg(palette.current)
                .bg(Color::Reset)
                .add_modifier(Modifier::REVERSED),
            stand_in: tinted(palette.stand_in, Modifier::REVERSED),
            out: faint,
            struck: faint.add_modifier(Modifier::CROSSED_OUT),
            missing: tinted(palette.missing, Modifier::DIM),
            fold: faint,
            added: change(&palette.added),
            removed: change(&palette.removed),
            moved: change(&palette.moved),
            is_ascii: false,
            classes: palette
                .classes
                .map(|tone| if has_syntax { fg(tone) } else { none }),
        }
    }

    /// The style of a part of the code.
    pub fn class(&self, class: Class) -> Style {
        let at = (class as usize).checked_sub(1);
        at.map_or_else(Style::new, |at| self.classes[at])
    }
}
