//! The editors, as the rules use them.

mod emacs;
mod kakoune;
mod neovim;
mod vim;

pub use self::emacs::Emacs;
pub use self::kakoune::Kakoune;
pub use self::neovim::Neovim;
pub use self::vim::Vim;

/// The ways in which people quit Neovim and Vim.
pub const QUITS: [&str; 6] = [
    ":qa<CR>",
    ":wqa<CR>",
    "ZZ",
    ":x<CR>",
    ":confirm qa<CR>",
    ":set confirm | qa<CR>",
];
