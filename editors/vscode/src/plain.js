// What agents, files and people wrote, as plain text: nothing of it is read as an icon, a link or a command.

/** What a terminal or a reader would not show as it is. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * For a message: no link, which could name a command.
 * @param {string} text
 */
const message = (text) => text.replace(HIDDEN, "\ufffd").replace(/\]\(/g, "] (");

/**
 * For one line of the window: no icon.
 * @param {string} text
 */
const label = (text) => message(text).replace(/\s*\n\s*/g, " ").replace(/\$\(/g, "$ (");

module.exports = { message, label };
