// What agents have written: a tree of turns and changes, marks in open editors, and what the person does with them.

const vscode = require("vscode");
const fs = require("fs/promises");
const plain = require("./plain");
const { asShown } = require("./view");

/** @typedef {{ turn: any } | { turn: any, change: any }} Node */

class Changes {
  /**
   * @param {import("./client").Client} client
   * @param {import("./status").Status} status
   */
  constructor(client, status) {
    this.client = client;
    this.status = status;
    /** @type {any[]} */
    this.turns = [];
    /** @type {number | undefined} */
    this.number = undefined;
    /** When the rows of the tree became what they are, and whether the person went to one since. */
    this.rested = 0;
    this.isChosen = true;
    this.isDrawn = true;
    /** @type {Promise<void> | undefined} */
    this.drawing = undefined;
    this.redrawn = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.redrawn.event;
    /** @type {vscode.EventEmitter<void>} */
    this.lenses = new vscode.EventEmitter();
    this.onDidChangeCodeLenses = this.lenses.event;
    this.decorated = new vscode.EventEmitter();
    this.onDidChangeFileDecorations = this.decorated.event;
    const gutter = (/** @type {string} */ color) =>
      vscode.Uri.parse(`data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${color}" d="M6 1h4v14H6z"/></svg>`)}`);
    this.mark = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      gutterIconPath: gutter("#d7a21d"),
      gutterIconSize: "contain",
      overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    });
  }

  /** @param {vscode.Disposable[]} subscriptions */
  follow(subscriptions) {
    const { window, workspace, languages } = vscode;
    this.tree = window.createTreeView("pillion.changes", { treeDataProvider: this, showCollapseAll: true });
    subscriptions.push(
      this.tree,
      this.mark,
      this.tree.onDidChangeSelection(() => {
        this.isChosen = true;
      }),
      languages.registerCodeLensProvider({ scheme: "file" }, this),
      window.registerFileDecorationProvider(this),
      window.onDidChangeVisibleTextEditors(() => this.#draw()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (!this.#of(document.uri).length) return;
        this.#draw();
        // It is saved now, or it is not.
        if (!contentChanges.length) this.lenses.fire();
      }),
    );
  }

  /** @param {number} number another one, once the list is another one */
  async follows(number) {
    if (number === this.number) return;
    this.number = number;
    await this.load();
  }

  async load() {
    const { turns, problem, leftOut } = await this.client.ask("pillion/changes", {});
    this.turns = turns;
    this.rested = performance.now();
    this.isChosen = false;
    if (this.tree) {
      const rest = leftOut ? `${leftOut} more changes are not listed.` : undefined;
      this.tree.message = (problem && plain.message(problem)) ?? rest;
      const unseen = this.#unseen().length;
      this.tree.badge = unseen ? { value: unseen, tooltip: `${unseen} unseen` } : undefined;
    }
    this.redrawn.fire(undefined);
    this.lenses.fire();
    this.decorated.fire(undefined);
    this.#draw();
  }

  #unseen() {
    return this.turns.flatMap(({ changes }) => changes).filter((/** @type {any} */ it) => it.isUnseen);
  }

  /** @param {vscode.Uri} uri */
  #of(uri) {
    return uri.scheme === "file" ? this.#unseen().filter((it) => vscode.Uri.parse(it.uri).fsPath === uri.fsPath) : [];
  }

  // ---- The tree.

  /**
   * @param {Node} [node]
   * @returns {Node[]}
   */
  getChildren(node) {
    if (!node) return this.turns.map((turn) => ({ turn }));
    return "change" in node ? [] : node.turn.changes.map((/** @type {any} */ change) => ({ turn: node.turn, change }));
  }

  /** @param {Node} node */
  getTreeItem(node) {
    const { TreeItem, TreeItemCollapsibleState } = vscode;
    if (!("change" in node)) {
      const item = new TreeItem(plain.label(node.turn.title), TreeItemCollapsibleState.Expanded);
      item.id = node.turn.id;
      item.contextValue = `turn there${node.turn.changes.some((/** @type {any} */ it) => it.isUnseen) ? " unseen" : ""}`;
      return item;
    }
    const { change } = node;
    const item = new TreeItem(plain.label(change.shown), TreeItemCollapsibleState.None);
    item.id = change.id;
    item.description = plain.label(change.label);
    item.tooltip = plain.message(change.path);
    item.resourceUri = vscode.Uri.parse(change.uri);
    item.iconPath = vscode.ThemeIcon.File;
    const isThere = change.state !== "taken back" && change.state !== "gone";
    item.contextValue = `change${isThere ? " there" : ""}${change.isUnseen ? " unseen" : ""}`;
    const [first] = change.hunks;
    const at = new vscode.Position(first?.lines.start ?? 0, 0);
    const selection = new vscode.Range(at, at);
    // A file that is gone, or of which no line is another, is nothing to be opened.
    item.command = first
      ? { command: "vscode.open", title: "Open", arguments: [item.resourceUri, { selection }] }
      : { command: "pillion.look", title: "Look", arguments: [node] };
    return item;
  }

  /** @param {vscode.Uri} uri */
  provideFileDecoration(uri) {
    if (!this.#of(uri).length) return undefined;
    return new vscode.FileDecoration("P", "An agent changed it, and nobody has looked at that.", new vscode.ThemeColor("list.warningForeground"));
  }

  // ---- Open editors.

  /** Marks what is there, one time after the other. */
  #draw() {
    this.isDrawn = false;
    this.drawing ??= this.#drawAll().finally(() => (this.drawing = undefined));
  }

  async #drawAll() {
    while (!this.isDrawn) {
      this.isDrawn = true;
      for (const editor of vscode.window.visibleTextEditors) {
        const { version } = editor.document;
        const hunks = await this.#placed(editor.document).catch(() => []);
        const ranges = hunks.map(({ hunk: { lines } }) => new vscode.Range(lines.start, 0, Math.max(lines.end - 1, lines.start), 0));
        if (editor.document.version === version) editor.setDecorations(this.mark, ranges);
      }
    }
  }

  /**
   * The hunks that nobody has looked at, where they stand in a document: one that has other lines there has none of it.
   * @param {vscode.TextDocument} document
   * @returns {Promise<{ change: any, hunk: any }[]>}
   */
  async #placed(document) {
    const changes = this.#of(document.uri);
    const all = changes.flatMap((change) => change.hunks.map((/** @type {any} */ hunk) => ({ change, hunk })));
    if (!all.length) return [];
    const [original, content] = [await onDisk(document), document.getText()].map((it) => asShown(it ?? "", vscode.EndOfLine.LF));
    if (original === content) return all;
    const { hunks } = await this.client.ask("pillion/hunks", { original, content });
    return all.flatMap(({ change, hunk }) => {
      const lines = moved(hunk.lines, hunks);
      return lines ? [{ change, hunk: { ...hunk, lines } }] : [];
    });
  }

  /** @param {vscode.TextDocument} document */
  async provideCodeLenses(document) {
    const placed = await this.#placed(document);
    const last = document.lineCount - 1;
    const lens = (/** @type {any} */ meant, /** @type {string} */ title, /** @type {string} */ command) => {
      const line = Math.min(meant.hunk?.lines.start ?? 0, last);
      return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command: `pillion.${command}`, arguments: [meant] });
    };
    const lenses = placed.flatMap((meant) => {
      const { label, isChangedSince } = meant.hunk;
      const all = [lens(meant, plain.label(label), "look"), lens(meant, "Keep", "keep"), lens(meant, "Take Back", "takeBack")];
      return isChangedSince ? all.slice(0, 2) : all;
    });
    const isMissing = (/** @type {any} */ change) => placed.filter((it) => it.change === change).length < change.hunks.length;
    const missing = document.isDirty ? this.#of(document.uri).filter(isMissing) : [];
    const elsewhere = (/** @type {any} */ { label }) => plain.label(`${label}: not all of it is in this text, which is not saved`);
    return [...missing.map((change) => lens({ change }, elsewhere(change), "look")), ...lenses];
  }

  // ---- What the person does.

  /** @param {any} [node] a row, or a hunk of an editor */
  look(node) {
    return this.#act("pillion/look", { id: (node?.change ?? node?.turn)?.id });
  }

  /** @param {any} [node] */
  undo(node) {
    return this.#act("pillion/undo", { id: (node?.change ?? node?.turn)?.id });
  }

  /** @param {any} [node] */
  async keep(node) {
    return this.#act("pillion/keep", await this.#meant(node, "at"));
  }

  /**
   * @param {any} [node]
   * @param {string} [reason]
   */
  async takeBack(node, reason) {
    const notes = reason ? [{ text: reason }] : undefined;
    return this.#act("pillion/takeBack", { ...(await this.#meant(node, "lines")), notes });
  }

  /**
   * What is meant: a row of the tree, a hunk with its buttons, or what is at the cursor.
   * @param {any} node
   * @param {"at" | "lines"} part
   */
  async #meant(node, part) {
    if (node && !node.hunk) {
      const { id, revision } = node.change ?? node.turn;
      const row = { restedMs: Math.floor(performance.now() - this.rested), isChosen: this.isChosen };
      this.rested = performance.now();
      this.isChosen = false;
      return { id, revision, row, buffers: part === "lines" ? await this.#buffers() : undefined };
    }
    const editor = vscode.window.activeTextEditor;
    const uri = node ? vscode.Uri.parse(node.change.uri) : editor?.document.uri;
    if (!uri || uri.scheme !== "file") throw new Error("There is no file here whose changes could be meant.");
    const selected = { start: editor?.selection.start.line ?? 0, end: (editor?.selection.end.line ?? 0) + 1 };
    const { start, end } = node?.hunk.lines ?? selected;
    const lines = { first: start, last: Math.max(end - 1, start) };
    return { uri: uri.toString(), [part]: lines, buffers: await this.#buffers(uri) };
  }

  /**
   * The files that are open with unsaved changes, and this one: what saving would write.
   * @param {vscode.Uri} [own]
   */
  async #buffers(own) {
    const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === "file");
    const meant = files.filter((it) => it.isDirty || it.uri.fsPath === own?.fsPath);
    return Promise.all(
      meant.map(async (document) => ({
        uri: document.uri.toString(),
        content: await saved(document),
        isModified: document.isDirty,
      })),
    );
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #act(method, params) {
    const outcome = await this.client.ask(method, params);
    for (const edit of outcome.edits ?? []) {
      if (await this.#edit(edit, params.buffers)) continue;
      void this.client.say(2, "The file was edited meanwhile: nothing was taken out of it.");
      await this.client.ask("pillion/undo", { id: edit.id });
    }
    if (outcome.message) this.client.outcome(outcome);
    await this.load();
  }

  /**
   * @param {{ uri: string, content: string }} edit
   * @param {{ uri: string, content: string }[]} sent
   */
  async #edit({ uri, content }, sent) {
    const { fsPath } = vscode.Uri.parse(uri);
    const document = vscode.workspace.textDocuments.find((it) => it.uri.scheme === "file" && it.uri.fsPath === fsPath);
    const told = sent.find((it) => it.uri === document?.uri.toString());
    if (!document || (await saved(document)) !== told?.content) return false;
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), content.replace(/^\ufeff/, ""));
    return vscode.workspace.applyEdit(edit);
  }
}

/**
 * What saving a document would write. VS Code hides a BOM, and shows mixed line ends as one kind.
 * @param {vscode.TextDocument} document
 */
async function saved(document) {
  const text = document.getText();
  const there = await onDisk(document);
  if (there === undefined) return text;
  if (!document.isDirty && asShown(there, document.eol) === text) return there;
  return there.startsWith("\ufeff") ? `\ufeff${text}` : text;
}

/** @param {vscode.TextDocument} document */
const onDisk = (document) => fs.readFile(document.uri.fsPath, "utf8").catch(() => undefined);

/**
 * Where lines are after these changes, if none of them is there.
 * @param {{ start: number, end: number }} lines
 * @param {{ before: { start: number, end: number }, after: { start: number, end: number } }[]} changes
 */
function moved({ start, end }, changes) {
  let by = 0;
  for (const { before, after } of changes) {
    const isWithin = start === end && before.start <= start && before.end >= start;
    if (isWithin || (before.start < end && before.end > start)) return undefined;
    if (before.end <= start) by += after.end - after.start - (before.end - before.start);
  }
  return { start: start + by, end: end + by };
}

module.exports = { Changes };
