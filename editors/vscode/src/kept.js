// What the person had made of proposals that were then rejected or closed.

const vscode = require("vscode");
const path = require("path");

const MOST = 10;
const MOST_LENGTH = 1 << 20;
const KEY = "pillion.kept";

/** @typedef {{ path: string, text: string, time: number }} Entry */

class Kept {
  /** @param {vscode.Memento} store */
  constructor(store) {
    this.store = store;
    /** @type {Entry[]} too long to be stored */
    this.long = [];
  }

  /** @returns {Entry[]} */
  get entries() {
    const all = [...this.long, ...this.store.get(KEY, /** @type {Entry[]} */ ([]))];
    return all.sort((one, other) => other.time - one.time);
  }

  /**
   * @param {string} file
   * @param {string} text
   */
  async keep(file, text) {
    const entry = { path: file, text, time: Date.now() };
    if (text.length > MOST_LENGTH) this.long = [entry, ...this.long].slice(0, MOST);
    else await this.store.update(KEY, [entry, ...this.store.get(KEY, /** @type {Entry[]} */ ([]))].slice(0, MOST));
  }

  /** Opens the newest in an editor without a file. */
  async open() {
    const entry = this.entries[0];
    if (entry) await this.#show(entry);
  }

  async choose() {
    const rows = this.entries.map((entry) => ({
      label: path.basename(entry.path).replace(/\$\(/g, "$ ("),
      description: new Date(entry.time).toLocaleString(),
      entry,
    }));
    const row = await vscode.window.showQuickPick(rows, { placeHolder: rows.length ? "Which text?" : "Nothing is kept" });
    if (row) await this.#show(row.entry);
  }

  /** @param {Entry} entry */
  async #show({ text }) {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }), { preview: false });
  }
}

module.exports = { Kept };
