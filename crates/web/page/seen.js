// What has been before the person's eyes: rows that were whole in the pane, in a tab that is visible, with nothing above them.
// A hidden tab gets no frames and no observer callbacks, so that nothing counts there.

/** A row has to stand there for so long without a gap, in milliseconds. */
const DWELL = 300;

/** It is told, too, that rows have been there for so long, in milliseconds. */
const TELL_DRAWN = 1000;

/** What is seen is told in one go, at most so often, in milliseconds. */
const TELL = 200;

/**
 * A changed row, by the lines that it shows, from 0.
 * @typedef {{ left: number | null, right: number | null }} Lines
 */

export class Seen {
  /**
   * @param {HTMLElement} pane
   * @param {(left: number[], right: number[], drawnMs: number) => void} tell
   */
  constructor(pane, tell) {
    this.pane = pane;
    this.tell = tell;
    /** @type {WeakMap<Element, Lines>} */
    this.lines = new WeakMap();
    /** The rows in sight, each with the moment from which on it counts. @type {Map<Element, number>} */
    this.sight = new Map();
    /** Of rows taller than the pane, the parts that were in it: from, to, from their top. @type {Map<Element, [number, number][]>} */
    this.tall = new Map();
    this.left = new Set();
    this.right = new Set();
    /** @type {number | null} */
    this.drawn = null;
    /** @type {number | null} */
    this.timer = null;
    this.told = 0;
    this.observer = new IntersectionObserver((entries) => this.#observed(entries), { root: pane, threshold: [0, 0.99, 1] });
    document.addEventListener("visibilitychange", () => this.again());
    this.scrolled = 0;
    pane.addEventListener("scroll", () => {
      this.scrolled = performance.now();
      this.#later();
    }, { passive: true });
  }

  /**
   * Rows are drawn anew: nothing of them was seen, and they are on the screen from the second frame on, unless they are the same texts.
   * What was seen of the former ones has been told by then.
   * @param {boolean} [isSame]
   */
  start(isSame) {
    this.left.clear();
    this.right.clear();
    this.observer.disconnect();
    this.sight.clear();
    this.tall.clear();
    if (!isSame) this.again();
  }

  /**
   * Tells at once what waits to be told, and for how long all has been there.
   * @param {boolean} [isAsked] also if nothing waits
   */
  flush(isAsked) {
    if (!isAsked && !this.left.size && !this.right.size) return;
    this.told = performance.now();
    this.tell([...this.left], [...this.right], this.drawnMs());
    this.left.clear();
    this.right.clear();
  }

  /** The clock of what is drawn begins again, as after the tab was hidden. */
  again() {
    this.drawn = null;
    const now = performance.now();
    for (const row of this.sight.keys()) this.sight.set(row, now);
    if (document.visibilityState !== "visible") return;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (document.visibilityState !== "visible" || this.drawn !== null) return;
      const drawn = performance.now();
      this.drawn = drawn;
      setTimeout(() => this.drawn === drawn && this.flush(true), TELL_DRAWN);
    }));
    this.#later();
  }

  /** The milliseconds for which it has been drawn without a gap; 0 if it is not. */
  drawnMs() {
    return this.drawn === null ? 0 : Math.floor(performance.now() - this.drawn);
  }

  /**
   * @param {Element} row
   * @param {Lines} lines
   */
  watch(row, lines) {
    this.lines.set(row, lines);
    this.observer.observe(row);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #observed(entries) {
    const now = performance.now();
    for (const { target, isIntersecting, intersectionRatio, boundingClientRect } of entries) {
      const isTall = boundingClientRect.height > this.pane.clientHeight;
      if (isIntersecting && (isTall || intersectionRatio >= 0.99)) {
        if (!this.sight.has(target)) this.sight.set(target, now);
      } else this.sight.delete(target);
    }
    this.#later();
  }

  #later() {
    this.timer ??= window.setTimeout(() => {
      this.timer = null;
      this.#look();
    }, 60);
  }

  #look() {
    const isCovered = document.visibilityState !== "visible" || this.drawn === null || document.querySelector("dialog[open]") !== null;
    const now = performance.now();
    let waits = false;
    for (const [row, since] of this.sight) {
      const lines = this.lines.get(row);
      if (!lines || !row.isConnected) {
        this.sight.delete(row);
      } else if (isCovered) {
        this.sight.set(row, now);
        waits = true;
      } else if (now - since < DWELL) {
        waits = true;
      } else if (!isCut(row) && this.#isWhole(row, now - this.scrolled >= DWELL)) {
        if (lines.left !== null) this.left.add(lines.left);
        if (lines.right !== null) this.right.add(lines.right);
        this.sight.delete(row);
        this.observer.unobserve(row);
      }
    }
    if (now - this.told >= TELL) this.flush();
    if (waits || this.left.size || this.right.size) this.#later();
  }

  /**
   * Returns true once all of the row was in the pane, if it is taller than that by and by.
   * @param {Element} row
   * @param {boolean} isStill
   */
  #isWhole(row, isStill) {
    const box = row.getBoundingClientRect();
    const pane = this.pane.getBoundingClientRect();
    if (box.height <= pane.height) return true;
    if (!isStill) {
      this.#later();
      return false;
    }
    const parts = this.tall.get(row) ?? [];
    parts.push([Math.max(pane.top - box.top, 0), Math.min(pane.bottom - box.top, box.height)]);
    parts.sort((a, b) => a[0] - b[0]);
    /** @type {[number, number][]} */
    const joined = [];
    for (const [from, to] of parts) {
      const last = joined.at(-1);
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else joined.push([from, to]);
    }
    this.tall.set(row, joined);
    return joined.length === 1 && joined[0][0] <= 1 && joined[0][1] >= box.height - 1;
  }
}

/**
 * Returns true if a part of the row is to be scrolled to sideways.
 * @param {Element} row
 */
function isCut(row) {
  return [...row.querySelectorAll(".code")].some((code) => code.scrollWidth > code.clientWidth + 1);
}

/**
 * Numbers as ranges from, to (after the last).
 * @param {number[]} numbers
 * @returns {[number, number][]}
 */
export function ranges(numbers) {
  /** @type {[number, number][]} */
  const made = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = made.at(-1);
    if (last && last[1] >= number) last[1] = number + 1;
    else made.push([number, number + 1]);
  }
  return made;
}
