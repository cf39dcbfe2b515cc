// What the person made of proposals: of those that were rejected or closed, and, in case this window ends, of those that wait.

const vscode = require("vscode");
const path = require("path");

const MOST = 10;
const MOST_LENGTH = 1 << 20;
const KEY = "pillion.kept";
const OPEN = "Open My Text";

/** @typedef {{ view: string, path: string, text: string, time: number, waits?: boolean }} Entry */

class Kept {
  /** @param {vscode.Memento} store */
  constructor(store) {
    this.store = store;
    /** @type {Entry[]} too long to be stored */
    this.long = [];
    /** What waited when a former window ended. */
    this.left = this.#stored.filter((it) => it.waits);
  }

  /** What waited when a former window ended, once: it is kept, and nobody waits for it any more. */
  async takeLeft() {
    const { left } = this;
    this.left = [];
    const isLeft = (/** @type {Entry} */ it) => left.some(({ view, time }) => view === it.view && time === it.time);
    if (left.length) await this.store.update(KEY, this.#stored.map((it) => (isLeft(it) ? { ...it, waits: false } : it)));
    return left;
  }

  /** @returns {Entry[]} */
  get #stored() {
    return this.store.get(KEY, /** @type {Entry[]} */ ([]));
  }

  /**
   * @param {import("./view").View} view
   * @param {string} text
   * @param {boolean} waits whether nobody has decided yet
   */
  async keep(view, text, waits = false) {
    await this.#put(view, { view: String(view.right), path: view.diff.path, text, time: Date.now(), waits });
  }

  /**
   * The text was accepted, or is the agent's again.
   * @param {import("./view").View} view
   */
  async drop(view) {
    await this.#put(view);
  }

  /**
   * @param {import("./view").View} view
   * @param {...Entry} entries in the place of the view's
   */
  async #put(view, ...entries) {
    const key = String(view.right);
    const others = (/** @type {Entry[]} */ all) => all.filter((it) => it.view !== key);
    const isLong = entries.some(({ text }) => text.length > MOST_LENGTH);
    this.long = [...(isLong ? entries : []), ...others(this.long)].slice(0, MOST);
    await this.store.update(KEY, [...(isLong ? [] : entries), ...others(this.#stored)].slice(0, MOST));
  }

  /** @param {string[]} names */
  static said(names) {
    return `What you had made of ${names.join(", ")} is kept: “Pillion: Open a Text That I Had Edited” opens it.`;
  }

  /**
   * @param {import("./client").Client} client
   * @param {string} why
   * @param {string[]} names
   */
  async tell(client, why, names) {
    const chosen = await client.say(3, `${why} ${Kept.said(names)}`.trimStart(), OPEN);
    if (chosen === OPEN) await this.choose();
  }

  /** Opens one in an editor without a file. */
  async choose() {
    const all = [...this.long, ...this.#stored].sort((one, other) => other.time - one.time);
    const rows = all.map((entry) => ({
      label: nameOf(entry).replace(/\$\(/g, "$ ("),
      description: new Date(entry.time).toLocaleString(),
      entry,
    }));
    const row = await vscode.window.showQuickPick(rows, { placeHolder: rows.length ? "Which text?" : "Nothing is kept" });
    if (!row) return;
    const { text } = row.entry;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }), { preview: false });
  }
}

/** @param {Entry} entry */
const nameOf = (entry) => path.basename(entry.path);

module.exports = { Kept, nameOf };
