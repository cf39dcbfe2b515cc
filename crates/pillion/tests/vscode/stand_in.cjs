// A stand-in for VS Code, as far as the extension uses it: documents, tabs, editors and saves, in one process with the
// extension's own modules, which speak with a real `pillion lsp`. Each line of the input is JavaScript; its value is printed.

"use strict";

const fs = require("fs");
const path = require("path");
const Module = require("module");
const { pathToFileURL } = require("url");

const [folder, extension, program] = process.argv.slice(2);
const PAGE = 30;

// ---- Values.

class Uri {
  constructor(scheme, at, query = "") {
    Object.assign(this, { scheme, authority: "", path: at, query, fragment: "" });
  }
  static parse(text) {
    const [, scheme, at, query] = /^([^:]+):(?:\/\/)?([^?]*)(?:\?(.*))?$/.exec(text);
    return new Uri(scheme, decodeURIComponent(at), query);
  }
  static file(at) {
    return new Uri("file", at);
  }
  with({ scheme = this.scheme, query = this.query }) {
    return new Uri(scheme, this.path, query);
  }
  get fsPath() {
    return this.path;
  }
  toString() {
    const at = this.scheme === "file" ? pathToFileURL(this.path).pathname : encodeURI(this.path);
    return `${this.scheme}:${this.scheme === "file" ? "//" : ""}${at}${this.query && `?${this.query}`}`;
  }
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(a, b, c, d) {
    if (typeof a === "number") [this.start, this.end] = [new Position(a, b), new Position(c, d)];
    else [this.start, this.end] = [a, b];
  }
  get isEmpty() {
    return this.start.line === this.end.line && this.start.character === this.end.character;
  }
}
class Selection extends Range {
  get active() {
    return this.end;
  }
}
class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener) => {
      this.listeners.add(listener);
      return { dispose: () => this.listeners.delete(listener) };
    };
  }
  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
}
class WorkspaceEdit {
  constructor() {
    this.edits = [];
  }
  set(uri, edits) {
    this.edits.push(...edits.map((edit) => ({ uri, ...edit })));
  }
  replace(uri, range, newText) {
    this.edits.push({ uri, range, newText });
  }
}
class Value {
  constructor(...values) {
    this.values = values;
  }
}
class TabInputText {
  constructor(uri) {
    this.uri = uri;
  }
}
class TabInputTextDiff {
  constructor(original, modified) {
    Object.assign(this, { original, modified });
  }
}

// ---- Documents.

const events = {};
const event = (name) => (events[name] ??= new EventEmitter()).event;
const fire = (name, value) => events[name]?.fire(value);
const documents = [];
const providers = {};
/**
 * Set by tests: whether saving trims a text, before or after it asks extensions, and what the person does meanwhile, whether what is unsaved is known as that
 * later, how long
 * reading a file again takes, and opening a diff.
 */
const settings = { isTrusted: true, trims: undefined, meanwhile: undefined, delay: 0, slow: 0, version: "1.139.0", values: { "pillion.path": program, "security.workspace.trust.enabled": false } };

class Doc {
  constructor(uri) {
    Object.assign(this, { uri, version: 1, isDirty: false, isUnsaved: false, isClosed: false, undone: [] });
    this.read();
  }
  read() {
    const bytes = this.uri.scheme === "file" ? fs.readFileSync(this.uri.path) : providers[this.uri.scheme].readFile(this.uri);
    const text = Buffer.from(bytes).toString("utf8").replace(/^\ufeff/, "");
    const all = text.match(/\r\n|\n|\r/g) ?? [];
    this.eol = all.filter((it) => it === "\r\n").length * 2 > all.length ? 2 : 1;
    this.text = text.replace(/\r\n|\r|\n/g, this.eol === 2 ? "\r\n" : "\n");
  }
  get lines() {
    return this.text.split(/\r?\n/);
  }
  get lineCount() {
    return this.lines.length;
  }
  lineAt(line) {
    return { lineNumber: line, text: this.lines[line] };
  }
  offsetAt({ line, character }) {
    const ends = this.eol === 2 ? 2 : 1;
    const { lines } = this;
    const before = lines.slice(0, line).reduce((sum, it) => sum + it.length + ends, 0);
    return Math.min(before + (line < lines.length ? Math.min(character, lines[line].length) : 0), this.text.length);
  }
  positionAt(offset) {
    const before = this.text.slice(0, offset).split(/\r?\n/);
    return new Position(before.length - 1, before.at(-1).length);
  }
  getText(range) {
    return range ? this.text.slice(this.offsetAt(range.start), this.offsetAt(range.end)) : this.text;
  }
  change(range, text, reason) {
    const [from, to] = [this.offsetAt(range.start), this.offsetAt(range.end)];
    if (!reason) this.undone.push(this.text);
    const added = text.replace(/\r?\n/g, this.eol === 2 ? "\r\n" : "\n");
    this.text = this.text.slice(0, from) + added + this.text.slice(to);
    this.isUnsaved = true;
    const tell = () => {
      this.isDirty = this.isUnsaved;
      fire("onDidChangeTextDocument", { document: this, contentChanges: [] });
    };
    if (settings.lags) setTimeout(tell, 50);
    else this.isDirty = true;
    this.version += 1;
    fire("onDidChangeTextDocument", { document: this, contentChanges: [{ range, text: added, rangeOffset: from, rangeLength: to - from }], reason });
  }
  get all() {
    return new Range(0, 0, this.lineCount, 0);
  }
  /** The file is another one. */
  reload() {
    if (this.isDirty) return;
    const { text, all } = this;
    this.read();
    if (this.text === text) return;
    this.version += 1;
    fire("onDidChangeTextDocument", { document: this, contentChanges: [{ range: all, text: this.text, rangeOffset: 0, rangeLength: text.length }] });
  }
  async save(isPlain = false) {
    const trim = (when) => {
      const trimmed = this.text.replace(/[ \t]+(?=\r?\n|$)/g, "");
      if (!isPlain && settings.trims === when && trimmed !== this.text) this.change(this.all, trimmed);
    };
    trim("before");
    const waits = [];
    if (!isPlain) fire("onWillSaveTextDocument", { document: this, reason: settings.reason ?? 1, waitUntil: (it) => waits.push(it) });
    for (const edits of await Promise.all(waits)) for (const { range, newText } of edits) this.change(range, newText);
    trim("after");
    if (!isPlain) settings.meanwhile?.();
    if (this.uri.scheme === "file") fs.writeFileSync(this.uri.path, this.text);
    else await providers[this.uri.scheme].writeFile(this.uri, Buffer.from(this.text));
    this.isDirty = false;
    this.isUnsaved = false;
    fire("onDidSaveTextDocument", this);
    return true;
  }
}

async function openDocument(uri) {
  if (!(uri instanceof Uri)) return { uri: new Uri("untitled", "/1"), text: uri.content };
  let document = documents.find((it) => it.uri.toString() === uri.toString() && !it.isClosed);
  if (!document) {
    document = new Doc(uri);
    documents.push(document);
    fire("onDidOpenTextDocument", document);
  }
  return document;
}

// ---- Tabs and editors.

const groups = [{ tabs: [], activeTab: undefined, viewColumn: 1 }];
let activeGroup = groups[0];
/** All of them as one, with what is active in the one that has the focus. */
const group = {
  get tabs() {
    return groups.flatMap(({ tabs }) => tabs);
  },
  get activeTab() {
    return activeGroup.activeTab;
  },
};
const editors = [];
let visible = [];
let active;

class Editor {
  constructor(document) {
    this.document = document;
    this.top = 0;
    this.selection = new Selection(0, 0, 0, 0);
    this.decorations = [];
  }
  get selections() {
    return [this.selection];
  }
  get visibleRanges() {
    return [new Range(this.top, 0, Math.min(this.top + PAGE, this.document.lineCount) - 1, 0)];
  }
  revealRange({ start }) {
    this.top = Math.max(0, start.line - PAGE / 2);
    fire("onDidChangeTextEditorVisibleRanges", { textEditor: this });
  }
  setDecorations(_, ranges) {
    this.decorations = ranges;
  }
}

const editorOf = (document) => {
  let editor = editors.find((it) => it.document === document);
  if (!editor) editors.push((editor = new Editor(document)));
  return editor;
};

const urisOf = ({ input }) => (input instanceof TabInputTextDiff ? [input.original, input.modified] : [input.uri]);

/** Shows a tab in its group, which has the focus then, unless it is kept where something is. */
async function goTo(tab, keepsFocus = false) {
  tab.group.activeTab = tab;
  if (!keepsFocus || !activeGroup.activeTab) activeGroup = tab.group;
  await refresh(tab);
}

async function refresh(tab) {
  const editorsOf = (of) => Promise.all((of.activeTab ? urisOf(of.activeTab) : []).map(async (uri) => editorOf(await openDocument(uri))));
  visible = (await Promise.all(groups.map(editorsOf))).flat();
  active = (await editorsOf(activeGroup)).at(-1);
  // VS Code's own question, whose first answer takes these characters out.
  for (const { document } of visible.filter((it) => it.document.uri.scheme !== "pillion-before" && /[\u2028\u2029]/.test(it.document.text))) {
    state.asked += 1;
    document.change(document.all, document.text.replace(/[\u2028\u2029]/g, ""));
  }
  fire("onDidChangeVisibleTextEditors", visible);
  fire("onDidChangeActiveTextEditor", active);
  fire("onDidChangeTabs", { opened: [], closed: [], changed: tab ? [tab] : [] });
}

const closed = [];
async function closeTabs(tabs) {
  closed.push(...tabs);
  for (const tab of tabs) {
    tab.group.tabs = tab.group.tabs.filter((it) => it !== tab);
    if (tab.group.activeTab === tab) tab.group.activeTab = tab.group.tabs.at(-1);
  }
  if (!activeGroup.tabs.length) activeGroup = groups.find((it) => it.tabs.length) ?? groups[0];
  await refresh();
  const shown = (document) => group.tabs.flatMap(urisOf).some((it) => it.toString() === document.uri.toString());
  fire("onDidChangeTabs", { opened: [], closed: tabs, changed: [] });
  for (const document of documents.filter((it) => !it.isClosed && !shown(it))) {
    document.isClosed = true;
    fire("onDidCloseTextDocument", document);
  }
  return true;
}

const opened = [];
const commands = {
  async "vscode.diff"(left, right, label, options) {
    opened.push({ label, ...options });
    await new Promise((done) => setTimeout(done, settings.slow));
    await Promise.all([left, right].map(openDocument));
    const viewColumn = options.viewColumn === vscode.ViewColumn.Beside ? activeGroup.viewColumn + 1 : options.viewColumn;
    let own = groups.find((it) => it.viewColumn === viewColumn);
    if (!own) groups.push((own = { tabs: [], activeTab: undefined, viewColumn }));
    let tab = own.tabs.find(({ input }) => input.modified?.toString() === right.toString());
    if (!tab) own.tabs.push((tab = { input: new TabInputTextDiff(left, right), label, group: own }));
    fire("onDidChangeTabs", { opened: [tab], closed: [], changed: [] });
    if (!options.background) await goTo(tab, options.preserveFocus);
  },
  "workbench.action.files.saveWithoutFormatting": () => active.document.save(true),
  setContext: (key, value) => Object.assign(state.context, { [key]: value }),
};
const state = { context: {}, asked: 0, told: [], said: [], answers: [], clipboard: "", items: [], threads: [] };

// ---- What the person does.

const person = {
  async open(name) {
    const tab = { input: new TabInputText(Uri.file(path.join(folder, name))), group: activeGroup };
    activeGroup.tabs.push(tab);
    await goTo(tab);
  },
  at(line, character = 0) {
    active.selection = new Selection(line, character, line, character);
    fire("onDidChangeTextEditorSelection", { textEditor: active, selections: active.selections, kind: 2 });
  },
  type(text) {
    const { active: at } = active.selection;
    active.document.change(new Range(at, at), text);
    const end = active.document.positionAt(active.document.offsetAt(at) + text.length);
    active.selection = new Selection(end, end);
    fire("onDidChangeTextEditorSelection", { textEditor: active, selections: active.selections, kind: 1 });
  },
  undo() {
    const { document } = active;
    document.change(document.all, document.undone.pop(), 1);
  },
  scroll(line) {
    for (const editor of visible) editor.top = line;
    for (const textEditor of visible) fire("onDidChangeTextEditorVisibleRanges", { textEditor });
  },
  close: () => closeTabs([group.activeTab]),
  /** To another group: VS Code closes it here and opens it there. */
  async move() {
    const tab = group.activeTab;
    const moved = { ...tab };
    activeGroup.tabs = [...activeGroup.tabs.filter((it) => it !== tab), moved];
    fire("onDidChangeTabs", { opened: [moved], closed: [tab], changed: [] });
    await goTo(moved);
  },
  /** All of them, as VS Code does it: one after the other, before anybody answers. */
  closeAll: () => Promise.all([...group.tabs].map((tab) => closeTabs([tab]))),
  select(start, end) {
    active.selection = new Selection(start, 0, end, 0);
    fire("onDidChangeTextEditorSelection", { textEditor: active, selections: active.selections, kind: 2 });
  },
  /** Throws away what is not saved. */
  revert() {
    active.document.isDirty = false;
    active.document.reload();
  },
  run: (name, ...args) => commands[`pillion.${name}`](...args),
  save: () => active.document.save(),
  note(line, text) {
    const thread = vscode.comments.controller.createCommentThread(active.document.uri, new Range(line, 0, line, 0), []);
    return person.run("addNote", { thread, text });
  },
  text: () => active.document.text,
};
const sentence = () => state.items.find(({ id }) => id === "pillion.said" && !state.hidden?.has("pillion.said"))?.text;
const above = () => state.threads.filter(({ label }) => label === "Pillion").flatMap(({ comments }) => comments.map(({ body }) => body));
const bar = () => state.items.find(({ id }) => id === "pillion.status").text;

// ---- The module.

const say = (message, ...buttons) => {
  state.said.push(message);
  const at = state.answers.findIndex((it) => buttons.includes(it));
  return Promise.resolve(at < 0 ? undefined : state.answers.splice(at, 1)[0]);
};
const ask = () => Promise.resolve(state.answers.shift());
const none = () => ({ dispose() {} });
state.hidden = new Set();
const vscode = {
  Uri, Position, Range, Selection, EventEmitter, WorkspaceEdit, TabInputText, TabInputTextDiff,
  TextEdit: { replace: (range, newText) => ({ range, newText }) },
  Disposable: class {}, ThemeColor: Value, ThemeIcon: Value, FileDecoration: Value,
  TreeItem: class { constructor(label, collapsibleState) { Object.assign(this, { label, collapsibleState }); } },
  CodeLens: class { constructor(range, command) { Object.assign(this, { range, command }); } },
  EndOfLine: { LF: 1, CRLF: 2 }, FileType: { File: 1 }, FilePermission: { Readonly: 1 }, FileChangeType: { Changed: 1 },
  FileSystemError: { FileNotFound: (uri) => new Error(`no file ${uri}`) },
  StatusBarAlignment: { Left: 1 }, ViewColumn: { Beside: -2 }, TextDocumentSaveReason: { Manual: 1 }, OverviewRulerLane: { Left: 1 }, CommentMode: { Preview: 1 }, TextEditorSelectionChangeKind: { Keyboard: 1, Mouse: 2 }, TextEditorRevealType: { InCenter: 2 },
  CommentThreadCollapsibleState: { Expanded: 1 }, TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  get version() { return settings.version; },
  env: { appName: "Stand-in", clipboard: { writeText: async (text) => void (state.clipboard = text) } },
  extensions: { getExtension: (id) => state.extensions?.includes(id) || undefined },
  commands: {
    registerCommand: (name, run) => ((commands[name] = run), none()),
    executeCommand: async (name, ...args) => commands[name](...args),
  },
  comments: {
    createCommentController() {
      const createCommentThread = (uri, range, comments) => {
        const thread = { uri, range, comments, dispose: () => (state.threads = state.threads.filter((it) => it !== thread)) };
        state.threads.push(thread);
        return thread;
      };
      return (vscode.comments.controller = { createCommentThread, dispose() {} });
    },
  },
  languages: {
    registerCodeLensProvider: (_, provider) => ((state.lenses = provider), none()),
    getDiagnostics: () => [],
  },
  window: {
    state: { focused: true },
    tabGroups: {
      get all() { return groups; },
      get activeTabGroup() { return activeGroup; },
      onDidChangeTabs: event("onDidChangeTabs"),
      close: closeTabs,
    },
    get visibleTextEditors() { return visible; },
    get activeTextEditor() { return active; },
    showErrorMessage: say, showWarningMessage: say, showInformationMessage: say, showInputBox: ask,
    showQuickPick: async (rows) => rows.find((it) => (it.label ?? it) === state.answers[0]) && (state.answers.shift(), rows[0]),
    showTextDocument: async (document) => void (state.shown = document.text),
    setStatusBarMessage: (text) => (state.told.push(text), none()),
    createOutputChannel: () => ({ info() {}, warn() {}, error: console.error, dispose() {} }),
    createStatusBarItem(id) {
      const item = { id, text: "", show: () => state.hidden.delete(id), hide: () => state.hidden.add(id), dispose() {} };
      state.items.push(item);
      return item;
    },
    createTextEditorDecorationType: none,
    createTreeView: (_, { treeDataProvider }) => (state.tree = { provider: treeDataProvider, onDidChangeSelection: none, dispose() {} }),
    createTerminal: (options) => (state.terminal = { options, show() {}, sendText: (...sent) => (state.sent = sent) }),
    registerFileDecorationProvider: none,
  },
  workspace: {
    workspaceFolders: [{ uri: Uri.file(folder) }],
    get isTrusted() { return settings.isTrusted; },
    textDocuments: documents,
    getConfiguration: (section) => ({ get: (key, otherwise) => settings.values[`${section}.${key}`] ?? otherwise }),
    openTextDocument: openDocument,
    asRelativePath: ({ path: at }) => path.relative(folder, at),
    async applyEdit({ edits }) {
      for (const { uri, range, newText } of edits) (await openDocument(uri)).change(range, newText);
      return true;
    },
    registerFileSystemProvider(scheme, provider) {
      providers[scheme] = provider;
      if (scheme === "pillion") provider.onDidChangeFile((changes) => setTimeout(() => changes.forEach(({ uri }) => documents.find((it) => it.uri.toString() === uri.toString() && !it.isClosed)?.reload()), settings.delay));
      return none();
    },
  },
};
for (const [where, names] of [
  [vscode.window, ["onDidChangeVisibleTextEditors", "onDidChangeTextEditorVisibleRanges", "onDidChangeWindowState", "onDidChangeTextEditorSelection", "onDidChangeActiveTextEditor", "onDidCloseTerminal", "onDidChangeActiveTerminal"]],
  [vscode.workspace, ["onDidChangeTextDocument", "onWillSaveTextDocument", "onDidSaveTextDocument", "onDidOpenTextDocument", "onDidCloseTextDocument", "onDidChangeWorkspaceFolders", "onDidChangeConfiguration", "onDidGrantWorkspaceTrust"]],
]) for (const name of names) where[name] = event(name);

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const own = require(extension);
const memory = new Map();
const workspaceState = { get: (key, otherwise) => memory.get(key) ?? otherwise, update: async (key, value) => void memory.set(key, value) };
const packageJSON = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));
const context = { subscriptions: [], extensionPath: extension, extension: { packageJSON }, workspaceState };

// ---- The test.

let rest = "";
process.stdin.on("data", async (bytes) => {
  const lines = (rest + bytes).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    let answer;
    try {
      answer = { value: (await eval(`(async () => (${JSON.parse(line)}))()`)) ?? null };
    } catch (error) {
      answer = { error: error.stack };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
});
process.stdin.on("end", () => process.exit());
const start = () => own.activate(context);
const leave = () => own.deactivate();
void [start, leave, sentence, above, bar, opened, closed, settings, person];
