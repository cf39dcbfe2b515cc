// What of a proposal has been on the screen, and since when. Pillion rules on what that means.

const vscode = require("vscode");
const { Own } = require("./own");

/** A longer line is not wholly on the screen, unless it is wrapped or the cursor was near its end. */
const WIDTH = 120;

/**
 * The lines of a change that have not been on the screen.
 * @typedef {{ right: Set<number>, left: Set<number> }} Unseen
 */

class Seen {
  /** @param {import("./view").View} view */
  constructor(view) {
    this.view = view;
    /** False until the document has the text of this revision. */
    this.isLoaded = false;
    /** @type {number | undefined} since when it is on the screen */
    this.since = undefined;
    /** @type {Unseen[]} */
    this.hunks = [];
  }

  /** The document may have the text of this revision now. */
  load() {
    const { view } = this;
    if (this.isLoaded || view.document?.getText() !== view.shown) return;
    this.isLoaded = true;
    view.own = new Own(view.shown);
    const right = lineMap(view.diff.proposed);
    const left = lineMap(view.diff.original ?? "");
    const last = view.document.lineCount - 1;
    this.hunks = view.diff.hunks.map((/** @type {any} */ { before, after }) => {
      if (after.start < after.end) return { right: lines(right, after), left: lines(left, before) };
      // Where lines are only removed, their place counts.
      return { right: new Set([Math.min(right(after.start), last)]), left: new Set() };
    });
  }

  /** Something else may be on the screen now. */
  look() {
    this.load();
    const { document, left } = this.view;
    const isHere = vscode.window.state.focused && this.isLoaded;
    const shown = isHere ? vscode.window.visibleTextEditors : [];
    const right = shown.filter((it) => it.document === document);
    if (!right.length) {
      this.since = undefined;
      return;
    }
    this.since ??= performance.now();
    const wraps = isWrapped();
    for (const editor of right) {
      this.#see("right", editor, (line) => wraps || isReached(editor, line));
    }
    const before = shown.filter((it) => it.document.uri.toString() === left.toString());
    for (const editor of before) this.#see("left", editor, () => true);
    // One column shows what was there before above what stands there now.
    if (!before.length) for (const hunk of this.hunks) hunk.left.clear();
  }

  /**
   * @param {"right" | "left"} side
   * @param {vscode.TextEditor} editor
   * @param {(line: vscode.TextLine) => boolean} isWhole
   */
  #see(side, editor, isWhole) {
    for (const { start, end } of editor.visibleRanges) {
      for (const hunk of this.hunks) {
        for (const at of hunk[side]) {
          if (at < start.line || at > end.line) continue;
          if (isWhole(editor.document.lineAt(at))) hunk[side].delete(at);
        }
      }
    }
  }

  /**
   * The person edits: what they change, they have seen, and what is below moves.
   * @param {readonly vscode.TextDocumentContentChangeEvent[]} changes
   */
  follow(changes) {
    if (!this.isLoaded) return;
    for (const { range, text } of changes) {
      const moved = (text.match(/\n/g)?.length ?? 0) - (range.end.line - range.start.line);
      for (const hunk of this.hunks) {
        const touched = [...hunk.right].filter((at) => at >= range.start.line && at <= range.end.line);
        if (touched.length) hunk.left.clear();
        for (const at of touched) hunk.right.delete(at);
        if (moved) hunk.right = new Set([...hunk.right].map((at) => (at > range.end.line ? at + moved : at)));
      }
    }
  }

  /** What Pillion is told with a decision, as it is at this moment. */
  get told() {
    const hunks = this.hunks.flatMap(({ right, left }, nth) => (right.size || left.size ? [] : [nth]));
    const drawnMs = this.since === undefined ? undefined : Math.floor(performance.now() - this.since);
    return { drawnMs, typed: true, hunks };
  }

  /** The first line that has not been on the screen. */
  get next() {
    const all = this.hunks.flatMap(({ right }) => [...right]);
    return all.length ? Math.min(...all) : undefined;
  }
}

/**
 * @param {(line: number) => number} place
 * @param {{ start: number, end: number }} range
 */
function lines(place, { start, end }) {
  const found = new Set();
  for (let at = place(start); at < place(end); at++) found.add(at);
  return found;
}

/**
 * Where a line is in VS Code: for Pillion, lines end at a line feed only.
 * @param {string} text
 * @returns {(line: number) => number}
 */
function lineMap(text) {
  if (!/\r(?!\n)/.test(text)) return (line) => line;
  let at = 0;
  const starts = text.split("\n").map((line) => {
    const start = at;
    at += 1 + (line.replace(/\r$/, "").match(/\r/g)?.length ?? 0);
    return start;
  });
  return (line) => starts[line] ?? at;
}

function isWrapped() {
  const own = vscode.workspace.getConfiguration("diffEditor").get("wordWrap");
  const word = own === "inherit" ? vscode.workspace.getConfiguration("editor").get("wordWrap") : own;
  return word === "on" || word === "bounded";
}

/**
 * @param {vscode.TextEditor} editor
 * @param {vscode.TextLine} line
 */
function isReached(editor, line) {
  const end = line.text.length - WIDTH;
  return end <= 0 || editor.selections.some(({ active }) => active.line === line.lineNumber && active.character >= end);
}

module.exports = { Seen };
