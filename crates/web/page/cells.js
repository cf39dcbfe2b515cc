// A row as elements. The server says what is on each line; all of it goes in as text.

import { button, el } from "./dom.js";
import { keyOf } from "./keys.js";

/** @typedef {import("./wire.js").Cell} Cell */
/** @typedef {import("./wire.js").Colour} Colour */
/** @typedef {import("./wire.js").Diff} Diff */
/** @typedef {import("./wire.js").Row} Row */
/** @typedef {import("./wire.js").Span} Span */

/**
 * @param {Span[] | undefined} spans
 * @param {number} at
 */
const within = (spans, at) => spans?.some(([from, to]) => from <= at && at < to) ?? false;

/**
 * The text of a line, cut where its look changes.
 * @param {HTMLElement} into
 * @param {Cell} cell
 * @param {Colour[]} colours
 * @param {Span[]} hits
 */
function fill(into, cell, colours, hits) {
  const { text, words, replaced } = cell;
  const blanks = cell.blanks ?? text.length;
  const cuts = new Set([0, text.length, blanks]);
  for (const [from, to] of [...colours, ...(words ?? []), ...(replaced ?? []), ...hits]) cuts.add(from).add(to);
  const places = [...cuts].filter((at) => at <= text.length).sort((a, b) => a - b);
  for (let i = 0; i + 1 < places.length; i += 1) {
    const at = places[i];
    const part = text.slice(at, places[i + 1]);
    const colour = colours.find(([from, to]) => from <= at && at < to);
    const looks = [
      colour && `c-${colour[2]}`,
      within(replaced, at) && "raw",
      within(hits, at) && "hit",
      at >= blanks && "blanks",
    ].filter(Boolean).join(" ");
    if (within(words, at)) into.append(el("mark", { class: looks || undefined }, part));
    else into.append(looks ? el("span", { class: looks }, part) : part);
  }
  if (cell.end) into.append(el("span", { class: "white" }, ` ${cell.end}`));
}

/**
 * @param {string} kind
 * @param {Cell | undefined} cell
 * @param {Colour[]} colours
 * @param {Span[]} hits
 */
function code(kind, cell, colours, hits) {
  const made = el("span", { class: cell ? `code ${kind}` : "code none", role: "cell" });
  if (cell) fill(made, cell, colours, hits);
  if (cell?.cut) {
    made.append(el("button", { type: "button", class: "whole", data: { act: "whole" } }, `… ${cell.cut.toLocaleString()} more characters: show them`));
  }
  if (cell?.moved !== undefined) {
    made.append(el("span", { class: "label moved-from" }, `${kind === "del" ? "moved to" : "moved from"} ${cell.moved + 1}`));
  }
  return made;
}

/** What a screen reader says of a line. @type {Record<string, string>} */
const SAID = { del: "removed", ins: "added", "": "" };

/**
 * @param {string} kind
 * @param {number | undefined} line
 * @param {string} side
 */
const number = (kind, line, side) =>
  el("span", { class: `number ${kind}`, role: "cell", data: { side, line: line ?? "" } },
    line === undefined ? "" : String(line + 1), line !== undefined && kind !== "" && el("span", { class: "for-readers" }, ` ${SAID[kind]}`));

/**
 * What drawing needs besides the row.
 * @typedef {{
 *   diff: Diff, layout: "split" | "unified", colours: { left: Map<number, Colour[]>, right: Map<number, Colour[]> },
 *   within: Map<number, string>, hits: (side: "left" | "right", line: number) => Span[],
 * }} Drawing
 */

/**
 * @param {Row} row
 * @param {Drawing} drawing
 */
export function drawRow(row, drawing) {
  const { diff, layout, colours, hits } = drawing;
  /** @type {(side: "left" | "right", kind: string, cell: Cell | undefined) => HTMLElement} */
  const drawn = (side, kind, cell) =>
    code(kind, cell, (cell && colours[side].get(cell.line)) ?? [], cell ? hits(side, cell.line) : []);
  if (row.fold) {
    const { lines, right, gap } = row.fold;
    const inside = drawing.within.get(right + lines);
    return el("div", { class: "row fold wide", role: "row", data: { gap } },
      el("span", { role: "cell", class: "fold-cell wide" },
        lines > 20 && button("20 more above", () => {}, { class: "above" }),
        lines > 20 && button("20 more below", () => {}, { class: "below" }),
        button(`Show ${lines === 1 ? "1 unchanged line" : `${lines.toLocaleString()} unchanged lines`}`, () => {}, { class: "all" }),
        inside && el("span", { class: "within" }, inside)));
  }
  if (row.note !== undefined) {
    const remark = diff.remarks[row.note];
    return el("div", { class: "row", role: "row" }, el("div", { class: "wide", role: "cell" }, remark && drawNote(remark, row.note)));
  }
  if (row.same) {
    const { left, right } = row.same;
    const cells = layout === "split"
      ? [number("", left, "left"), drawn("right", "", { ...right }), number("", right.line, "right"), drawn("right", "", right)]
      : [number("", left, "left"), number("", right.line, "right"), drawn("right", "", right)];
    return el("div", { class: "row", role: "row" }, ...cells);
  }
  const { hunk, left, right } = row.changed ?? { hunk: 0 };
  const state = diff.hunks[hunk];
  const isMoved = (left ?? right)?.moved !== undefined;
  const cells = layout === "split"
    ? [
      number(left ? "del" : "", left?.line, "left"), drawn("left", "del", left),
      number(right ? "ins" : "", right?.line, "right"), drawn("right", "ins", right),
    ]
    : left
      ? [number("del", left.line, "left"), number("del", undefined, ""), drawn("left", "del", left)]
      : [number("ins", undefined, ""), number("ins", right?.line, "right"), drawn("right", "ins", right)];
  return el("div", { class: `row changed${state?.out ? " out" : ""}${isMoved ? " moved" : ""}`, role: "row", data: { hunk } }, ...cells);
}

/**
 * What stands above a hunk: which it is, what is to be known of it, and what can be done with it.
 * @param {Diff} diff
 * @param {number} hunk
 */
export function drawStrip(diff, hunk) {
  const { out, mark, white } = diff.hunks[hunk] ?? {};
  /** @type {(word: string, act: string, key?: string) => HTMLElement} */
  const does = (word, act, key) => {
    const made = button(word, () => {}, { class: "plain", key: key && keyOf(key) });
    made.append(el("span", { class: "for-readers" }, ` hunk ${hunk + 1}`));
    made.dataset.act = act;
    return made;
  };
  return el("div", { class: `strip${out ? " out" : ""}${diff.seen.hunks[hunk] ? " seen" : ""}`, role: "row", data: { strip: hunk } },
    el("span", { class: "grow", role: "cell" }, `Hunk ${hunk + 1} of ${diff.hunks.length} `,
      out && el("span", { class: "mark" }, "excluded "), mark && el("span", { class: "mark" }, `${mark} `), white && "whitespace only ",
      el("span", { class: "state" })),
    el("span", { class: "buttons", role: "cell" },
      diff.written && does("Take back", "takeBack"),
      !diff.takesNoEdits && does(out ? "Include" : "Exclude", "toggle", "exclude"),
      !diff.takesNoEdits && does("Edit", "edit"),
      does("Note", "note", "note")));
}

/**
 * @param {import("./wire.js").Remark} remark
 * @param {number} at
 */
export function drawNote(remark, at) {
  return el("div", { class: "note", data: { note: at } },
    el("div", { class: "by" }, el("span", { class: "grow" }, `Your note on ${remark.place}`),
      button("Edit", () => {}, { class: "edit-note" }), button("Delete", () => {}, { class: "delete-note" })),
    remark.text || remark.says);
}
