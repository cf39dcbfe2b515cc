// Both sides of a proposal as files in memory. What is saved there decides nothing.

const vscode = require("vscode");
const { LEFT } = require("./view");

/** @implements {vscode.FileSystemProvider} */
class Files {
  /** @param {(uri: vscode.Uri) => import("./view").View | undefined} find */
  constructor(find) {
    this.find = find;
    /** @type {vscode.EventEmitter<vscode.FileChangeEvent[]>} */
    this.changes = new vscode.EventEmitter();
    this.onDidChangeFile = this.changes.event;
  }

  watch() {
    return new vscode.Disposable(() => {});
  }

  /** @param {vscode.Uri} uri */
  #view(uri) {
    const view = this.find(uri);
    if (!view) throw vscode.FileSystemError.FileNotFound(uri);
    return view;
  }

  /** @param {vscode.Uri} uri */
  stat(uri) {
    const view = this.#view(uri);
    const isFixed = uri.scheme === LEFT || view.isOver;
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: view.time,
      size: this.readFile(uri).length,
      permissions: isFixed ? vscode.FilePermission.Readonly : undefined,
    };
  }

  /** @param {vscode.Uri} uri */
  readFile(uri) {
    const view = this.#view(uri);
    if (uri.scheme === LEFT) return Buffer.from(view.covered(view.diff.original ?? ""));
    return view.saved ?? Buffer.from(view.covered(view.diff.proposed));
  }

  /**
   * @param {vscode.Uri} uri
   * @param {Uint8Array} bytes
   */
  writeFile(uri, bytes) {
    const view = this.#view(uri);
    view.saved = bytes;
    view.time = Math.max(Date.now(), view.time + 1);
  }

  /** @param {import("./view").View} view */
  changed(view) {
    view.time = Math.max(Date.now(), view.time + 1);
    this.changes.fire([view.left, view.right].map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
  }

  readDirectory() {
    return [];
  }

  createDirectory() {}
  delete() {}
  rename() {}
}

module.exports = { Files };
