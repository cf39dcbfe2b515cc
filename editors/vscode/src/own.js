// What a text is without what VS Code itself has changed in it: a save trims and formats it while the person types on.

/** @typedef {readonly { rangeOffset: number, rangeLength: number, text: string }[]} Changes of a document, the last place first */

/** @typedef {{ own: string, shown: string }} Piece what stands in the document, and what would without what VS Code has changed */

class Own {
  /** @param {string} text */
  constructor(text) {
    /** @type {Piece[]} */
    this.pieces = [{ own: text, shown: text }];
    /** @type {Changes} of which it is not known yet whose they are */
    this.last = [];
  }

  /** @param {Changes} changes */
  change(changes) {
    this.#settle(false);
    this.last = changes;
  }

  /** A key was pressed: the last change is the person's. */
  claim() {
    this.#settle(true);
  }

  get text() {
    return this.pieces.map(({ own }) => own).join("");
  }

  /** @param {boolean} isMine */
  #settle(isMine) {
    for (const { rangeOffset, rangeLength, text } of this.last) this.#replace(rangeOffset, rangeOffset + rangeLength, text, isMine);
    this.last = [];
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {string} text
   * @param {boolean} isMine
   */
  #replace(start, end, text, isMine) {
    /** @type {Piece[][]} */
    const [before, after, touched] = [[], [], []];
    let [at, first] = [0, start];
    for (const piece of this.pieces) {
      const from = at;
      at += piece.shown.length;
      if (at <= start) before.push(piece);
      else if (from >= end) after.push(piece);
      else if (piece.own === piece.shown) {
        const cut = [0, Math.max(start - from, 0), end - from, at - from];
        const [head, within, tail] = [0, 1, 2].map((nth) => same(piece.own.slice(cut[nth], cut[nth + 1])));
        before.push(head);
        touched.push(within);
        after.push(tail);
      } else {
        first = Math.min(first, from);
        touched.push(piece);
      }
    }
    const [own, shown] = [touched.map((it) => it.own).join(""), touched.map((it) => it.shown).join("")];
    const [head, tail] = [shown.slice(0, start - first), shown.slice(end - first)];
    const now = head + text + tail;
    const mine = isMine ? typed(own, shown, head, text, tail) : own;
    const [same1, same2] = alike(mine, now);
    const changed = { own: mine.slice(same1, mine.length - same2), shown: now.slice(same1, now.length - same2) };
    const all = [...before, same(mine.slice(0, same1)), changed, same(mine.slice(mine.length - same2)), ...after];
    this.pieces = all.reduce(joined, /** @type {Piece[]} */ ([]));
  }
}

/**
 * What was there for the person, with what they have typed between this beginning and this end of what is shown.
 * @param {string} own
 * @param {string} shown
 * @param {string} head
 * @param {string} text
 * @param {string} tail
 */
function typed(own, shown, head, text, tail) {
  const removed = shown.length - head.length - tail.length;
  if (own.startsWith(shown.slice(0, head.length + removed))) return head + text + own.slice(head.length + removed);
  if (own.endsWith(shown.slice(head.length))) return own.slice(0, own.length - tail.length - removed) + text + tail;
  // Nobody knows where that is in it: what is shown is what they have seen.
  return head + text + tail;
}

/** @param {string} text */
const same = (text) => ({ own: text, shown: text });

/**
 * @param {Piece[]} all
 * @param {Piece} next
 */
function joined(all, next) {
  const last = all.at(-1);
  if (last && last.own === last.shown && next.own === next.shown) all[all.length - 1] = same(last.own + next.own);
  else if (next.own || next.shown) all.push(next);
  return all;
}

/**
 * How long the beginning and the end are that two texts have in common.
 * @param {string} one
 * @param {string} other
 */
function alike(one, other) {
  const least = Math.min(one.length, other.length);
  let start = 0;
  while (start < least && one[start] === other[start]) start++;
  let end = 0;
  while (end < least - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return [start, end];
}

module.exports = { Own, alike };
