// What agents may know of the window: open files, the selection, diagnostics, and whether the folder is trusted.

const vscode = require("vscode");

/** The most diagnostics that Pillion passes on. */
const MOST = 1000;

/** @param {vscode.Position} position */
const place = ({ line, character }) => ({ line, character });

/** @param {vscode.Uri} uri */
const isFile = (uri) => uri.scheme === "file";

class Context {
  /** @param {import("./client").Client} client */
  constructor(client) {
    this.client = client;
    /** @type {Map<string, number>} when a file was focused last */
    this.focused = new Map();
    /** @type {{ uri: string, [field: string]: unknown } | undefined} of the file that had the focus last */
    this.active = undefined;
    this.sent = "";
    /** @type {NodeJS.Immediate | undefined} */
    this.due = undefined;
  }

  /** @param {vscode.Disposable[]} subscriptions */
  follow(subscriptions) {
    const { window, workspace } = vscode;
    const later = () => {
      this.due ??= setImmediate(() => this.report());
    };
    const synced = (/** @type {vscode.TextDocument} */ { uri }, /** @type {boolean} */ saved) => {
      if (isFile(uri)) this.client.notify("pillion/didSync", { uri: uri.toString(), saved });
    };
    subscriptions.push(
      window.onDidChangeActiveTextEditor(later),
      window.onDidChangeTextEditorSelection(later),
      window.tabGroups.onDidChangeTabs(later),
      workspace.onDidGrantWorkspaceTrust(later),
      workspace.onDidSaveTextDocument((document) => synced(document, true)),
      workspace.onDidOpenTextDocument((document) => synced(document, false)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        // VS Code has read the file again.
        if (contentChanges.length && !document.isDirty) synced(document, false);
        later();
      }),
    );
  }

  report(isNew = false) {
    this.due = undefined;
    const editor = vscode.window.activeTextEditor;
    if (editor && isFile(editor.document.uri)) this.#note(editor);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const open = new Set();
    for (const { input } of tabs) {
      if (input instanceof vscode.TabInputText && isFile(input.uri)) open.add(input.uri.toString());
      if (input instanceof vscode.TabInputTextDiff && isFile(input.modified)) open.add(input.modified.toString());
    }
    const openFiles = [...open].map((uri) => ({
      uri,
      lastFocused: this.focused.get(uri) ?? 1,
      ...(this.active?.uri === uri ? this.active : {}),
    }));
    const params = { openFiles, isTrusted: isTrusted() };
    const sent = JSON.stringify(params);
    if (sent === this.sent && !isNew) return;
    this.sent = sent;
    this.client.notify("pillion/didChangeContext", params);
  }

  /** @param {vscode.TextEditor} editor */
  #note({ document, selection }) {
    const uri = document.uri.toString();
    if (this.active?.uri !== uri) this.focused.set(uri, Date.now());
    const { start, end, active, isEmpty } = selection;
    const selected = { selectedText: document.getText(selection), selection: { start: place(start), end: place(end) } };
    this.active = { uri, active: true, position: place(active), ...(isEmpty ? {} : selected) };
  }

  /** @param {{ uri?: string | null }} asked */
  diagnostics({ uri }) {
    const { languages, Uri } = vscode;
    /** @type {[vscode.Uri, readonly vscode.Diagnostic[]][]} */
    const found = uri ? [[Uri.parse(uri), languages.getDiagnostics(Uri.parse(uri))]] : languages.getDiagnostics();
    const all = found.flatMap(([at, list]) => (isFile(at) ? list.map((it) => ({ at: uri ?? at.toString(), it })) : []));
    all.sort((one, other) => one.it.severity - other.it.severity);
    /** @type {Map<string, object[]>} */
    const files = new Map();
    for (const { at, it } of all.slice(0, MOST)) {
      const code = typeof it.code === "object" ? it.code.value : it.code;
      const range = { start: place(it.range.start), end: place(it.range.end) };
      const told = { range, severity: it.severity + 1, message: it.message, source: it.source, code };
      files.set(at, [...(files.get(at) ?? []), told]);
    }
    return { files: [...files].map(([at, diagnostics]) => ({ uri: at, diagnostics })) };
  }
}

/** Only if the person said so: where VS Code does not ask, nobody did. */
function isTrusted() {
  const asks = vscode.workspace.getConfiguration("security.workspace.trust").get("enabled", true);
  return asks ? vscode.workspace.isTrusted : undefined;
}

module.exports = { Context };
