//! The editors, as the rules use them.

mod emacs;
mod kakoune;
mod neovim;
mod vim;

pub use self::emacs::Emacs;
pub use self::kakoune::Kakoune;
pub use self::neovim::Neovim;
pub use self::vim::Vim;
