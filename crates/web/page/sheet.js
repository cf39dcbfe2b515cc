// The rows of one diff, in blocks that are filled as they come near the pane and emptied when they are far away, so that a file of
// a million lines is a few thousand elements. Knows rows and places; decides nothing.

import { drawRow, drawStrip } from "./cells.js";
import { el, move } from "./dom.js";
import { get } from "./net.js";
import { Seen } from "./seen.js";

/** @typedef {import("./wire.js").Diff} Diff */
/** @typedef {import("./wire.js").Row} Row */
/** @typedef {import("./wire.js").Span} Span */
/** @typedef {import("./wire.js").Colour} Colour */
/** @typedef {"left" | "right"} Side */
/** @typedef {{ element: HTMLElement, from: number, to: number, rows: Row[] | null, asked: Promise<void> | null, isNear: boolean }} Block */
/** Where something is written in the rows of a diff as it is by now, which has these hunks. @typedef {(diff: Diff, hunks: Span[]) => Promise<number>} Place */

/** Rows in a block. */
const BLOCK = 200;

/** The height of a row that was never drawn, in pixels. */
const HEIGHT = 20;

export class Sheet {
  /**
   * @param {HTMLElement} pane
   * @param {(diff: number, g: number, left: number[], right: number[], drawnMs: number) => void} tellSeen
   */
  constructor(pane, tellSeen) {
    this.pane = pane;
    this.table = el("div", { id: "rows", role: "table" });
    this.seen = new Seen(pane, (left, right, drawnMs) => this.diff && tellSeen(this.diff.id, this.g, left, right, drawnMs));
    /** @type {Diff | null} */
    this.diff = null;
    this.g = -1;
    this.total = 0;
    /** @type {Span[]} */
    this.hunks = [];
    /** @type {Block[]} */
    this.blocks = [];
    this.cursor = 0;
    /** The other end of the selected rows, which go to the cursor. @type {number | null} */
    this.selectedFrom = null;
    /** @type {"split" | "unified"} */
    this.layout = "split";
    /** What is unfolded of each diff. @type {Map<number, { all: boolean, long: boolean, gaps: Map<number, [number, number]> }>} */
    this.arrangements = new Map();
    /** @type {{ left: Map<number, Colour[]>, right: Map<number, Colour[]> }} */
    this.colours = { left: new Map(), right: new Map() };
    /** @type {Map<number, string>} */
    this.within = new Map();
    /** @type {(side: Side, line: number) => Span[]} */
    this.hits = () => [];
    /** What is being written, below which row. @type {{ element: HTMLElement, row: number, place: Place } | null} */
    this.form = null;
    this.drawings = 0;
    this.moved = () => {};
    this.near = new IntersectionObserver((entries) => this.#approach(entries), { root: pane, rootMargin: "1500px 0px" });
  }

  /**
   * What is unfolded of a diff, and whether its lines are sent whole.
   * @param {Diff | null} diff
   */
  arrangement(diff = this.diff) {
    const known = this.arrangements.get(diff?.id ?? 0) ?? { all: false, long: false, gaps: new Map() };
    this.arrangements.set(diff?.id ?? 0, known);
    return known;
  }

  /** What the rows are asked for by. @param {Diff | null} [diff] */
  query(diff = this.diff) {
    const { all, long, gaps } = this.arrangement(diff);
    const unfold = [...gaps].map(([left, [above, below]]) => `${left}.${above}.${below}`).join(",");
    return { g: diff?.g ?? 0, layout: this.layout, unfold: all ? "all" : unfold, long };
  }

  /**
   * Draws a diff, or draws it again where the person is: what is selected, in sight and being written stays so. Until all of that is known
   * nothing is another, so that no key meets rows that nobody sees.
   * @param {Diff} diff
   * @returns {Promise<void>}
   */
  async show(diff) {
    this.drawings += 1;
    const drawing = this.drawings;
    const isOther = this.diff?.id !== diff.id;
    const isOtherText = isOther || this.g !== diff.g;
    const query = this.query(diff);
    /** @type {(from: number, to: number) => Promise<import("./wire.js").RowsPage>} */
    const rows = (from, to) => get(`/diffs/${diff.id}/rows`, { ...query, from, to });
    const page = await rows(0, BLOCK);
    /** @type {(row: number) => number} */
    const inRange = (row) => Math.max(0, Math.min(row, page.total - 1));
    /** A row is found again by its line, or in another text by its distance from the hunk above it. @type {(row: number) => Promise<number>} */
    const again = async (row) => {
      const on = isOtherText ? null : this.linesOf([row, row + 1]);
      if (on) return inRange(await this.rowOf(on.side, on.lines[0], diff));
      const hunk = Math.min(this.hunkAbove(row), Math.max(0, page.hunks.length - 1));
      return inRange((page.hunks[hunk]?.[0] ?? 0) + row - (this.hunks[hunk]?.[0] ?? 0));
    };
    const { cursor, selectedFrom, form } = this;
    const formNow = form && await form.place(diff, page.hunks);
    /** @type {Block[]} */
    const blocks = [];
    for (let from = 0; from < page.total; from += BLOCK) {
      const to = Math.min(from + BLOCK, page.total);
      blocks.push({ element: el("div", { class: "block", role: "rowgroup" }), from, to, rows: from ? null : page.rows, asked: null, isNear: true });
    }
    const inSight = isOther ? null : this.#inSight();
    const cursorNow = isOther ? page.hunks[0]?.[0] ?? 0 : await again(cursor);
    const selectedNow = isOther || selectedFrom === null ? null : await again(selectedFrom);
    const sightNow = inSight === null ? null : inSight === cursor ? cursorNow : await again(inSight);
    for (const row of [sightNow ?? 0, cursorNow, formNow ?? 0]) {
      const block = blocks[Math.floor(row / BLOCK)];
      if (block) block.rows ??= (await rows(block.from, block.to)).rows;
    }
    if (drawing !== this.drawings) return;
    // The person went on meanwhile.
    if (cursor !== this.cursor || selectedFrom !== this.selectedFrom || form !== this.form) return this.show(diff);
    const isSameSize = !isOther && page.total === this.total;
    this.blocks.forEach(({ element }, at) => {
      if (isSameSize && blocks[at]) blocks[at].element.style.height = `${element.offsetHeight}px`;
    });
    for (const { element, from, to } of blocks) element.style.height ||= `${(to - from) * HEIGHT}px`;
    const scroll = this.pane.scrollTop;
    const top = inSight === null ? 0 : this.element(inSight)?.getBoundingClientRect().top ?? 0;
    // What was seen until now is of the texts that go.
    this.seen.flush(true);
    this.cursor = cursorNow;
    this.selectedFrom = selectedNow;
    const had = [...this.table.children];
    Object.assign(this, { diff, g: diff.g, total: page.total, hunks: page.hunks, blocks });
    if (isOtherText) {
      this.colours = { left: new Map(), right: new Map() };
      this.within = new Map();
    }
    this.seen.start(!isOtherText);
    this.near.disconnect();
    this.table.className = `${this.layout}${this.table.classList.contains("cut") ? " cut" : ""}`;
    this.table.setAttribute("aria-label", `Changes of ${diff.shown}`);
    this.table.setAttribute("aria-rowcount", String(this.total));
    this.table.append(...blocks.map(({ element }) => element));
    if (form) form.row = formNow ?? 0;
    for (const block of blocks) this.#fill(block);
    for (const block of had) block.remove();
    if (this.table.parentElement !== this.pane) this.pane.replaceChildren(this.table);
    this.pane.scrollTop = isOther ? 0 : scroll;
    const there = sightNow === null ? null : this.element(sightNow);
    if (there && top) this.pane.scrollTop += there.getBoundingClientRect().top - top;
    for (const block of blocks) this.near.observe(block.element);
    await this.goTo(this.cursor, isOther ? "nearest" : "none");
  }

  /** The row that is to stay where it is: that of the cursor, if it is in sight, or else the first one there. */
  #inSight() {
    const pane = this.pane.getBoundingClientRect();
    for (const row of [this.cursor, this.firstRow()]) {
      const box = this.element(row)?.getBoundingClientRect();
      if (box?.height && box.bottom > pane.top && box.top < pane.bottom) return row;
    }
    return null;
  }

  /** Nothing is shown. */
  clear() {
    this.drawings += 1;
    this.seen.flush(true);
    this.diff = null;
    this.form = null;
    this.blocks = [];
    this.seen.start();
    this.near.disconnect();
  }

  /** @param {number} row */
  #blockAt(row) {
    return this.blocks[Math.floor(row / BLOCK)];
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #approach(entries) {
    for (const { target, isIntersecting } of entries) {
      const block = this.blocks.find((it) => it.element === target);
      if (!block) continue;
      block.isNear = isIntersecting;
      // It may be far away again when its rows have come, and nothing says that once more.
      if (isIntersecting) this.#load(block).then(() => block.isNear && this.#fill(block)).catch(() => {});
    }
    this.#empty();
  }

  /** Takes the rows out of all blocks that are far away. What is being written stays, and what has the cursor or the keyboard. */
  #empty() {
    const kept = this.#blockAt(this.cursor);
    for (const block of this.blocks) {
      const { element, isNear } = block;
      if (isNear || block === kept || !element.firstChild || element.contains(document.activeElement)) continue;
      if (element.querySelector(".writing")) continue;
      element.style.height = `${element.offsetHeight}px`;
      element.replaceChildren();
    }
  }

  /** @param {Block} block */
  async #load(block) {
    const { diff } = this;
    if (block.rows || !diff) return;
    block.asked ??= get(`/diffs/${diff.id}/rows`, { ...this.query(), from: block.from, to: block.to }).then((page) => {
      block.rows = page.rows;
    }).finally(() => {
      block.asked = null;
    });
    await block.asked;
  }

  /** @param {Block} block */
  #fill(block) {
    const { diff, layout, colours, within, hits } = this;
    if (!diff || !block.rows || block.element.firstChild || !this.blocks.includes(block)) return;
    /** @type {HTMLElement[]} */
    const made = block.rows.flatMap((row, at) => {
      const drawn = drawRow(row, { diff, layout, colours, within, hits });
      const index = block.from + at;
      drawn.dataset.row = String(index);
      drawn.setAttribute("aria-rowindex", String(index + 1));
      drawn.tabIndex = -1;
      const { left, right } = row.changed ?? {};
      if (row.changed && !left?.cut && !right?.cut) this.seen.watch(drawn, { left: left?.line ?? null, right: right?.line ?? null });
      const hunk = row.changed && this.hunks[row.changed.hunk]?.[0] === index ? row.changed.hunk : null;
      return hunk === null ? [drawn] : [drawStrip(diff, hunk), drawn];
    });
    block.element.replaceChildren(...made);
    block.element.style.height = "";
    const above = this.form && this.element(this.form.row);
    if (this.form && above && block.element.contains(above)) move(this.form.element, above);
    this.mark();
    this.#colour(block).catch(() => {});
  }

  /**
   * Fetches the colours of a block, and draws its rows again with them.
   * @param {Block} block
   */
  async #colour(block) {
    const { diff, g } = this;
    if (!diff || !block.rows) return;
    /** @type {(side: Side) => number[]} */
    const lines = (side) => (block.rows ?? []).flatMap((row) => {
      const cell = side === "left" ? row.changed?.left : row.changed?.right ?? row.same?.right;
      if (row.fold && side === "right") return [row.fold.right + row.fold.lines];
      return cell && !this.colours[side].has(cell.line) ? [cell.line] : [];
    });
    const [left, right] = [runs(lines("left")), runs(lines("right"))];
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      /** @type {import("./wire.js").Colours} */
      const known = await get(`/diffs/${diff.id}/colours`, { g, left: left[at] ?? "0-0", right: right[at] ?? "0-0" });
      if (this.g !== g || this.diff?.id !== diff.id) return;
      for (const side of /** @type {Side[]} */ (["left", "right"])) {
        for (const [line, spans] of Object.entries(known[side])) this.colours[side].set(Number(line), spans);
      }
      for (const [line, name] of Object.entries(known.within)) this.within.set(Number(line), name);
    }
    if (block.element.firstChild) this.redraw(block);
  }

  /**
   * Draws the contents of rows that are there again, in place: nothing that was seen is unseen by that.
   * @param {Block} block
   */
  redraw(block) {
    const { diff, layout, colours, within, hits } = this;
    if (!diff || !block.rows) return;
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (block.element.querySelectorAll("[data-row]"))) {
      const row = block.rows[Number(element.dataset.row) - block.from];
      if (row && row.note === undefined) element.replaceChildren(...drawRow(row, { diff, layout, colours, within, hits }).childNodes);
    }
    this.mark();
    this.moved();
  }

  /** Draws what is there again, with the hits of a search or without. */
  redrawAll() {
    for (const block of this.blocks) if (block.element.firstChild) this.redraw(block);
  }

  /**
   * The element of a row, if it is there.
   * @param {number} row
   * @returns {HTMLElement | null}
   */
  element(row) {
    return this.#blockAt(row)?.element.querySelector(`[data-row="${row}"]`) ?? null;
  }

  /**
   * @param {number} row
   * @returns {Row | undefined}
   */
  row(row) {
    const block = this.#blockAt(row);
    return block?.rows?.[row - block.from];
  }

  /**
   * A row, also one that is far away.
   * @param {number} row
   */
  async load(row) {
    const block = this.#blockAt(row);
    if (block) await this.#load(block);
    return this.row(row);
  }

  /**
   * Puts the cursor on a row, and the row into the pane.
   * @param {number} row
   * @param {"nearest" | "start" | "center" | "none"} where
   */
  async goTo(row, where = "nearest") {
    this.cursor = Math.max(0, Math.min(row, this.total - 1));
    const block = this.#blockAt(this.cursor);
    if (!block) return;
    if (!block.element.firstChild) {
      await this.#load(block);
      this.#fill(block);
    }
    this.mark();
    const element = this.element(this.cursor);
    if (where !== "none") element?.scrollIntoView({ block: where });
    const holder = document.activeElement;
    if (!holder || holder === document.body || holder === this.pane || this.table.contains(holder) && !holder.closest(".writing")) {
      element?.focus({ preventScroll: true });
    }
    this.#empty();
    this.moved();
  }

  /** Says at each hunk whether it was seen. @param {boolean[]} seen */
  markSeen(seen) {
    for (const strip of /** @type {NodeListOf<HTMLElement>} */ (this.table.querySelectorAll(".strip"))) {
      strip.classList.toggle("seen", seen[Number(strip.dataset.strip)] ?? false);
    }
  }

  /** Marks the cursor and what is selected. */
  mark() {
    const [from, to] = this.selected() ?? [-1, -1];
    const hunk = String(this.hunkAt(this.cursor) ?? "");
    for (const strip of /** @type {NodeListOf<HTMLElement>} */ (this.table.querySelectorAll(".strip"))) {
      strip.classList.toggle("here", strip.dataset.strip === hunk);
    }
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (this.table.querySelectorAll("[data-row]"))) {
      const row = Number(element.dataset.row);
      element.classList.toggle("cursor", row === this.cursor);
      element.tabIndex = row === this.cursor ? 0 : -1;
      element.classList.toggle("selected", row >= from && row < to);
    }
  }

  /** The first row in the pane. */
  firstRow() {
    const top = this.pane.getBoundingClientRect().top;
    for (const { element } of this.blocks) {
      if (element.getBoundingClientRect().bottom <= top) continue;
      for (const row of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("[data-row]"))) {
        if (row.getBoundingClientRect().bottom > top + 1) return Number(row.dataset.row);
      }
    }
    return 0;
  }

  /** The rows that are selected: the first, and the one after the last. @returns {Span | null} */
  selected() {
    if (this.selectedFrom === null) return null;
    return [Math.min(this.selectedFrom, this.cursor), Math.max(this.selectedFrom, this.cursor) + 1];
  }

  /**
   * The hunk that a row is in.
   * @param {number} row
   */
  hunkAt(row) {
    const hunk = this.hunks.findIndex(([from, to]) => from <= row && row < to);
    return hunk < 0 ? null : hunk;
  }

  /**
   * The hunk that a row is in or below, or else the first.
   * @param {number} row
   */
  hunkAbove(row) {
    let found = 0;
    for (let hunk = 0; hunk < this.hunks.length && this.hunks[hunk][0] <= row; hunk += 1) found = hunk;
    return found;
  }

  /**
   * The row of a line, or of the fold that hides it.
   * @param {Side} side
   * @param {number} line
   * @param {Diff | null} [diff] as it is to be shown; without it, as it is shown
   * @returns {Promise<number>}
   */
  async rowOf(side, line, diff = null) {
    const query = { ...this.query(diff ?? this.diff), g: diff?.g ?? this.g };
    const wanted = { ...query, side: side === "left" ? "before" : "after", line };
    return (await get(`/diffs/${(diff ?? this.diff)?.id}/row`, wanted)).row;
  }

  /**
   * The lines after that rows show, or those before if all of these are removed; none if they show none.
   * @param {Span} rows
   * @param {Side[]} [sides] which of both come first, or count alone
   * @returns {{ side: Side, lines: Span } | null}
   */
  linesOf([from, to], sides = ["right", "left"]) {
    for (const side of sides) {
      const lines = [];
      for (let row = from; row < to; row += 1) {
        const { changed, same } = this.row(row) ?? {};
        const line = changed ? changed[side]?.line : side === "right" ? same?.right.line : same?.left;
        if (line !== undefined) lines.push(line);
      }
      if (lines.length) return { side, lines: [Math.min(...lines), Math.max(...lines) + 1] };
    }
    return null;
  }

  /**
   * Puts what is written below a row, which `place` finds again in other rows.
   * @param {HTMLElement} element
   * @param {number} row
   * @param {Place} place
   */
  write(element, row, place) {
    this.form?.element.remove();
    const holder = el("div", { role: "row" }, el("div", { role: "cell" }, element));
    this.form = { element: holder, row, place };
    this.element(row)?.after(holder);
    element.scrollIntoView({ block: "nearest" });
  }

  /** What was written is done with. */
  written() {
    this.form?.element.remove();
    this.form = null;
    this.pane.focus({ preventScroll: true });
    this.goTo(this.cursor, "none");
  }
}

/**
 * Lines as a few ranges, `FROM-TO`, without the long gaps between them.
 * @param {number[]} lines
 */
function runs(lines) {
  /** @type {Span[]} */
  const made = [];
  for (const line of lines.sort((a, b) => a - b)) {
    const last = made.at(-1);
    if (last && line - last[1] < 500) last[1] = line + 1;
    else made.push([line, line + 1]);
  }
  return made.map(([from, to]) => `${from}-${to}`);
}
