// The lists at the side: what is pending, by folders, and what agents have written, by turns.

import { byId, el, put } from "./dom.js";

/** @typedef {import("./wire.js").Diff} Diff */
/** @typedef {import("./wire.js").Turns} Turns */

/** @param {Diff} diff */
function stateOf(diff) {
  if (diff.deletes) return { letter: "D", word: "deletes" };
  return diff.isNew ? { letter: "A", word: "new file" } : { letter: "M", word: "changed" };
}

/** @param {Diff} diff */
function marksOf(diff) {
  const marks = [];
  if (diff.canMerge) marks.push({ mark: "!", word: "changed on disk" });
  if (diff.hunks.some((hunk) => hunk.out)) marks.push({ mark: "✗", word: "hunks excluded" });
  if (diff.undo[0] || diff.remarks.length) marks.push({ mark: "✎", word: "edited or noted" });
  return marks;
}

/**
 * @param {number | null} added
 * @param {number | null} removed
 */
export const counts = (added, removed) => [
  added ? el("span", { class: "plus" }, `+${added}`) : null, added && removed ? " " : null,
  removed ? el("span", { class: "minus" }, `−${removed}`) : null,
];

/**
 * @param {Diff} diff
 * @param {boolean} isCurrent
 */
function item(diff, isCurrent) {
  const { letter, word } = stateOf(diff);
  const seen = diff.seen.hunks.filter(Boolean).length;
  const of = diff.hunks.length;
  const isSeen = of > 0 && seen === of;
  return el("button", { type: "button", class: `item${isSeen ? " all-seen" : ""}`, "aria-current": isCurrent ? "true" : "false", data: { diff: diff.id, key: `d${diff.id}` }, title: diff.shown },
    el("span", { class: "state", data: { state: letter }, "aria-hidden": "true" }, letter),
    el("span", { class: "file" }, diff.name,
      diff.set && diff.set.of > 1 && el("span", { class: "quiet" }, ` ${diff.set.place}/${diff.set.of}`)),
    ...marksOf(diff).map(({ mark, word: says }) => el("span", { title: says }, mark, el("span", { class: "for-readers" }, ` ${says}`))),
    el("span", { class: "count" }, ...counts(diff.added, diff.removed)),
    of > 0 && el("span", { class: "count quiet" }, isSeen ? "✓" : `${seen}/${of}`, el("span", { class: "for-readers" }, isSeen ? " all seen" : " hunks seen")),
    el("span", { class: "for-readers" }, `, ${word}`));
}

/** @param {string} shown */
const folderOf = (shown) => shown.slice(0, Math.max(0, shown.lastIndexOf("/")));

/**
 * @param {Diff[]} diffs
 * @param {number | null} current
 * @param {Turns | null} turns
 * @returns {boolean} true if there is nothing to list
 */
export function drawLists(diffs, current, turns) {
  const wanted = /** @type {HTMLInputElement} */ (byId("filter")).value.trim().toLowerCase();
  /** @type {(...texts: string[]) => boolean} */
  const fits = (...texts) => texts.some((text) => text.toLowerCase().includes(wanted));
  const shown = diffs.filter((diff) => fits(diff.shown, diff.agent));
  /** @type {Map<string, Diff[]>} */
  const folders = new Map();
  for (const diff of shown) folders.set(folderOf(diff.shown), [...(folders.get(folderOf(diff.shown)) ?? []), diff]);
  const pending = diffs.length > 0 && el("section", { "aria-label": "To review" },
    el("h2", {}, el("span", { class: "grow" }, "To review"), wanted ? `${shown.length} of ${diffs.length}` : String(diffs.length)),
    ...[...folders].flatMap(([folder, inside]) => [
      folder ? el("h3", { title: folder }, `${folder}/`) : "",
      el("ul", {}, ...inside.map((diff) => el("li", {}, item(diff, diff.id === current)))),
    ]));
  /** @param {string} id */
  const words = (id) => {
    const { note, reason } = turns?.words[id] ?? {};
    const says = note ? `your note: ${note}` : `your reason, not sent: ${reason}`;
    return (note || reason) && el("span", { title: says }, "✎", el("span", { class: "for-readers" }, ` ${says}`));
  };
  const kept = (turns?.turns ?? []).map((turn) => ({ turn, changes: turn.changes.filter((it) => fits(it.shown, turn.prompt)) }));
  const shownChange = diffs.find((diff) => diff.id === current)?.written;
  const isEmpty = !diffs.length && !turns?.problem && !(turns?.turns ?? []).some((it) => it.changes.length);
  const written = kept.some(({ changes }) => changes.length) && el("section", { "aria-label": "Written" },
    el("h2", {}, "Written by agents"),
    ...kept.filter(({ changes }) => changes.length).map(({ turn, changes }) => el("ul", {},
      el("li", {}, el("button", { type: "button", class: "item turn", title: turn.title, data: { turn: turn.id, revision: turn.revision, key: `t${turn.id}` } },
        el("span", { class: "state" }, turn.id), el("span", { class: "file" }, turn.prompt || turn.heading), words(turn.id))),
      ...changes.map((change) => el("li", {},
        el("button", { type: "button", class: `item change${change.isUnseen ? "" : " seen"}`, title: change.label, "aria-current": change.id === shownChange ? "true" : "false", data: { turn: change.id, revision: change.revision, key: `t${change.id}` } },
          el("span", { class: "state" }, change.isUnseen ? "●" : ""),
          el("span", { class: "file" }, change.shown),
          words(change.id),
          el("span", { class: "count" }, ...counts(change.added, change.removed)),
          el("span", { class: change.isUnseen ? "for-readers" : "count quiet" }, change.state)))))));
  const problem = turns?.problem && el("p", { class: "item quiet" }, turns.problem);
  put(byId("lists"), ...[pending, written, problem].filter((it) => it instanceof Node));
  return isEmpty;
}

/**
 * Moves the focus by so many items, as far as there are any.
 * @param {HTMLElement} from
 * @param {number} by
 */
export function moveItem(from, by) {
  const items = /** @type {HTMLElement[]} */ ([...byId("lists").querySelectorAll("button.item")]);
  items[Math.max(0, Math.min(items.indexOf(from) + by, items.length - 1))]?.focus();
}

/**
 * Moves the focus to the next change that nobody has decided about. Returns true if there is one.
 * @param {HTMLElement} from
 */
export function moveToUnseen(from) {
  const items = /** @type {HTMLElement[]} */ ([...byId("lists").querySelectorAll("button.item")]);
  const at = items.indexOf(from);
  const next = [...items.slice(at + 1), ...items.slice(0, at + 1)].find((it) => it.matches(".change:not(.seen)"));
  next?.focus();
  return next !== undefined;
}
