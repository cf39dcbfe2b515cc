//! The editors, as the rules use them.

mod emacs;
mod kakoune;
mod neovim;
mod vim;

pub use self::emacs::Emacs;
pub use self::kakoune::Kakoune;
pub use self::neovim::Neovim;
pub use self::vim::Vim;

/// A command line of Vim's or Neovim's with one of our commands: `:PillionSendNotes` for `send-notes`.
fn command_line(name: &str, word: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    let line = format!(":Pillion{} {word}", words.collect::<String>());
    format!("{}<CR>", line.trim_end())
}
