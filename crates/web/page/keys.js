// Keys: the same commands as in the terminal, from the server's table. What is pressed with Ctrl, Alt or Meta is the browser's.

/** @typedef {import("./wire.js").KeyRow} KeyRow */

/** @type {KeyRow[][]} */
let groups = [];

/** The table comes with all that is shown, so that no key means nothing once something is there. @param {KeyRow[][]} table */
export function useKeys(table) {
  groups = table;
}

/** What keys are named, where a browser has another name. @type {Record<string, string>} */
const NAMES = {
  " ": "space", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", PageUp: "PgUp", PageDown: "PgDn", Escape: "Esc",
};

/**
 * The command of a key in the first of these places that has it.
 * @param {KeyboardEvent} event
 * @param {string[]} places
 */
export function commandOf(event, places) {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const name = NAMES[event.key] ?? event.key;
  const key = event.shiftKey && name === "Tab" ? "Shift-Tab" : name;
  for (const place of places) {
    const row = groups.flat().find((it) => it.places.includes(place) && it.keys.includes(key));
    if (row) return row;
  }
  return undefined;
}

/**
 * The first key of a command, to be shown on its button.
 * @param {string} name
 */
export const keyOf = (name) => groups.flat().find((it) => it.name === name)?.keys[0];

/**
 * Its groups with the commands that this page has, for help; those that follow each other and share a sentence are one.
 * @param {(name: string) => boolean} has
 */
export function help(has) {
  return groups.map((group) => {
    /** @type {{ keys: string[], help: string }[]} */
    const rows = [];
    for (const row of group) {
      const keys = row.keys.filter((key) => !key.startsWith("Ctrl-") && key !== "0");
      if (!has(row.name) || !row.help || !keys.length) continue;
      const last = rows.at(-1);
      if (last?.help === row.help) last.keys.push(...keys);
      else rows.push({ keys, help: row.help });
    }
    return rows;
  });
}
