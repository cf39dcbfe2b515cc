// The proposals that are open: showing, closing, deciding. Pillion rules on whether a decision counts; here is what
// VS Code knows of it.

const vscode = require("vscode");
const { Files } = require("./files");
const { Kept, nameOf } = require("./kept");
const { Notes } = require("./notes");
const { Own, alike } = require("./own");
const { View, asShown, isOurs, tabs, RIGHT, LEFT } = require("./view");

/** The time without changes after which Pillion hears of them. */
const PAUSE_MS = 300;

/** A change that no key or click goes with is the person's after this time, unless a save has made it. */
const SETTLED_MS = 3000;

/** The time for which keys that decide or close do nothing once a view has gone. */
const AFTER_MS = 1000;

/** A busy VS Code answers late that it shows something, and Pillion does not wait as long. */
const SLOW_MS = 3000;

/** A proposal that a former window showed is here again after this time, or it is not. */
const AGAIN_MS = 5000;

class Reviews {
  /**
   * @param {import("./client").Client} client
   * @param {import("./status").Status} status
   * @param {vscode.ExtensionContext} context
   */
  constructor(client, status, context) {
    this.client = client;
    this.status = status;
    /** @type {Map<number, View>} */
    this.views = new Map();
    /** @type {Map<string, View>} those that are decided, until their document is closed */
    this.closing = new Map();
    const find = (/** @type {vscode.Uri} */ uri) => [...this.views.values()].find((it) => it.right.query === uri.query);
    this.find = find;
    this.files = new Files((uri) => find(uri) ?? this.closing.get(uri.with({ scheme: RIGHT }).toString()));
    this.kept = new Kept(context.workspaceState);
    this.notes = new Notes(client, find);
    /** Whether a proposal is in the active tab, as VS Code knows it. */
    this.wasActive = false;
    /** The proposals that nobody waits for any more, as VS Code knows them: they have no buttons. */
    this.over = "";
    /** When the person last decided, whether or not that counted. */
    this.pressed = 0;
    /** @type {number[]} the pauses that Pillion has not heard of */
    this.pauses = [];
    const { workspace, window } = vscode;
    context.subscriptions.push(
      workspace.registerFileSystemProvider(RIGHT, this.files, { isCaseSensitive: true }),
      workspace.registerFileSystemProvider(LEFT, this.files, { isCaseSensitive: true, isReadonly: true }),
      workspace.onDidChangeTextDocument((event) => this.#changed(event)),
      workspace.onDidCloseTextDocument(({ uri }) => this.closing.delete(uri.toString())),
      workspace.onWillSaveTextDocument((event) => this.#willSave(event)),
      workspace.onDidSaveTextDocument((document) => this.#didSave(document)),
      window.tabGroups.onDidChangeTabs((event) => this.#tabsChanged(event)),
      window.onDidChangeVisibleTextEditors(() => this.look()),
      window.onDidChangeTextEditorVisibleRanges(() => this.look()),
      window.onDidChangeWindowState(() => this.look()),
      window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        const { uri } = textEditor.document;
        const view = uri.scheme === RIGHT ? this.find(uri) : undefined;
        // A click says nothing of what a save has changed meanwhile.
        if (kind && kind !== vscode.TextEditorSelectionChangeKind.Mouse && view) this.#adopt(view, false);
        this.look();
      }),
      this.notes,
    );
  }

  /** The proposal in the active tab. */
  get current() {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return isOurs(input) ? this.find(input.modified) : undefined;
  }

  // ---- What Pillion asks.

  /** @param {any} diff */
  async open(diff) {
    const former = this.views.get(diff.id);
    if (former && !former.isClosing) return this.#renew(former, diff);
    const view = new View(diff);
    this.views.set(diff.id, view);
    try {
      view.document = await vscode.workspace.openTextDocument(view.right);
    } catch (error) {
      this.views.delete(diff.id);
      throw new Error(`the editor cannot show the text: ${/** @type {Error} */ (error).message}`);
    }
    view.seen.load();
    // Nor is it shown in the place of one that is looked at.
    const shown = this.#show(view, { preserveFocus: true, background: !!this.front });
    await Promise.race([shown, new Promise((done) => setTimeout(done, SLOW_MS))]);
    if (view.isClosing) return;
    view.isUnsaved = !!unsavedOf(view);
    this.say(view, diff.notes ?? []);
    this.look();
  }

  /**
   * A newer proposal takes the place of the one that is shown.
   * @param {View} view
   * @param {any} diff
   */
  async #renew(view, diff) {
    clearTimeout(view.draft);
    view.renew(diff);
    if (view.document?.isDirty) {
      // VS Code reads no file over what was typed. Undo has it.
      await this.#edit(view, view.shown);
    }
    this.files.changed(view);
    this.say(view, ["This is a newer proposal, in the place of the one that was here.", ...(diff.notes ?? [])]);
    this.look();
  }

  /** @param {{ id: number, message?: string }} params */
  async close({ id, message }) {
    const view = this.views.get(id);
    if (!view) throw new Error("no such view");
    const content = await this.text(view);
    const isEdited = view.isEdited;
    if (isEdited) await this.kept.keep(view, content);
    const sentences = message ? [message, ...(isEdited ? [Kept.said([view.name])] : [])] : [];
    if (message && this.current === view && vscode.window.state.focused) {
      // The person's next keys are meant for it, and not for what is below.
      view.isOver = true;
      this.files.changed(view);
      this.say(view, sentences);
      this.look();
    } else {
      if (message) void this.client.say(3, sentences.join(" "));
      void this.#remove(view);
    }
    return { content };
  }

  /** @param {{ id: number, revision: number }} params */
  async textOf({ id, revision }) {
    const view = this.views.get(id);
    if (!view || view.diff.revision !== revision) throw new Error("no such view");
    return { content: await this.text(view) };
  }

  /** @param {{ id: number, revision: number, content: string }} params */
  async offer({ id, revision, content }) {
    const view = this.views.get(id);
    if (!view || view.diff.revision !== revision || view.isEdited) return;
    view.offered = content;
    const take = "Take My Text";
    const name = view.title;
    const chosen = await this.client.say(3, `You had changed an earlier proposal of this file (${name}).`, take);
    if (chosen === take) await this.takeOffered(view);
  }

  /** Pillion has ended, and its diffs with it. */
  async forget() {
    const views = [...this.views.values()].filter((it) => !it.isClosing);
    const edited = views.filter((it) => it.isEdited && !it.isOver);
    for (const view of edited) await this.kept.keep(view, view.uncovered(view.content));
    if (edited.length) void this.client.say(2, `Pillion has ended. ${Kept.said(edited.map((it) => it.name))}`);
    for (const view of views) await this.#remove(view);
  }

  /** Pillion runs, and may show again what a former window showed. What of that does not come is said. */
  async again() {
    const left = await this.kept.takeLeft();
    if (!left.length) return;
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    const shown = [...this.views.values()].map(({ diff }) => diff.path);
    const names = left.filter((it) => !shown.includes(it.path)).map(nameOf);
    if (names.length) await this.kept.tell(this.client, "", names);
  }

  // ---- Texts.

  /**
   * What stands in a view, byte for byte: what VS Code does not show of the proposal, Pillion puts back.
   * @param {View} view
   */
  async text(view, content = view.content) {
    const { proposed } = view.diff;
    if (!view.seen.isLoaded || content === view.shown) return proposed;
    const [shown, mine] = [view.shown, content].map((it) => view.uncovered(it));
    if (shown === proposed) return mine;
    return (await this.client.ask("pillion/restore", { proposed, shown, content: mine })).content;
  }

  /**
   * Edits a view as the person would, so that undo brings back what was there.
   * @param {View} view
   * @param {string} text the whole text, as it is shown
   */
  async #edit(view, text) {
    await this.#put(view, text);
    this.#adopt(view, !view.isInSave);
  }

  /**
   * @param {View} view
   * @param {string} text
   */
  async #put(view, text) {
    if (!view.document) return;
    const edit = new vscode.WorkspaceEdit();
    edit.set(view.right, [difference(view.document, text)]);
    await vscode.workspace.applyEdit(edit);
  }

  /** @param {vscode.TextDocumentChangeEvent} event */
  #changed({ document, contentChanges, reason }) {
    if (document.uri.scheme === "file") return this.#fileChanged();
    const view = document.uri.scheme === RIGHT ? this.find(document.uri) : undefined;
    if (!view || view.isClosing || !contentChanges.length) return;
    if (!view.own) {
      view.seen.load();
      return this.look();
    }
    view.seen.follow(contentChanges);
    view.own.change(contentChanges);
    view.settling = void clearTimeout(view.settling);
    if (reason) this.#adopt(view, false);
    else if (!view.isInSave) view.settling = setTimeout(() => this.#adopt(view), SETTLED_MS);
  }

  /** Whether the files of proposals have unsaved changes. */
  #fileChanged() {
    for (const view of this.views.values()) {
      const isUnsaved = !!unsavedOf(view);
      if (isUnsaved === view.isUnsaved) continue;
      view.isUnsaved = isUnsaved;
      this.say(view, view.sentences);
    }
  }

  /**
   * What the person has made of a view is kept: in memory at once, so that closing asks nothing, and by Pillion in a moment,
   * in case this window ends.
   * @param {View} view
   * @param {boolean} isAll whether all that stands there is theirs, or the last change alone
   */
  #adopt(view, isAll = true) {
    view.settling = void clearTimeout(view.settling);
    if (view.isClosing || !view.own || !view.document) return;
    if (isAll) view.own = new Own(view.document.getText());
    else view.own.claim();
    const { text } = view.own;
    if (text === (view.adopted ?? view.shown)) return;
    view.adopted = text;
    clearTimeout(view.draft);
    view.draft = setTimeout(() => void this.#tellDraft(view), PAUSE_MS);
    void this.#save(view);
  }

  /**
   * @param {View} view
   * @param {boolean} isDirty which VS Code tells late
   */
  async #save(view, isDirty = !!view.document?.isDirty) {
    if (view.isSaving || !isDirty || vscode.window.activeTextEditor?.document !== view.document) return;
    view.isSaving = true;
    const { adopted } = view;
    await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
    view.isSaving = false;
    if (view.adopted !== adopted && !view.isClosing) void this.#save(view);
  }

  /**
   * What a save makes of a text, such as by formatting it, is not the person's.
   * @param {vscode.TextDocumentWillSaveEvent} event
   */
  #willSave({ document, reason, waitUntil }) {
    const view = document.uri.scheme === RIGHT ? this.find(document.uri) : undefined;
    if (!view?.own || view.isClosing) return;
    view.settling = void clearTimeout(view.settling);
    view.isInSave = true;
    view.saves += 1;
    view.own.change([]);
    if (reason === vscode.TextDocumentSaveReason.Manual) this.say(view, ["Saving decides nothing: “Pillion: Accept” accepts."]);
    const { text } = view.own;
    if (document.getText() !== text) waitUntil(Promise.resolve([difference(document, text)]));
  }

  /**
   * VS Code trims a text before it asks extensions about a save, or after that.
   * @param {vscode.TextDocument} document
   */
  #didSave(document) {
    const view = document.uri.scheme === RIGHT ? this.find(document.uri) : undefined;
    if (!view?.isInSave) return;
    const { saves } = view;
    void this.#putBack(view).finally(() => {
      // Until then what stands there is not what the person has seen.
      if (view.saves === saves) view.isInSave = false;
    });
  }

  /**
   * A key that comes meanwhile hinders the edit.
   * @param {View} view
   */
  async #putBack(view) {
    for (let tries = 0; tries < 5; tries++) {
      if (!view.own || view.isClosing || view.document?.getText() === view.own.text) break;
      await this.#put(view, view.own.text);
      view.settling = void clearTimeout(view.settling);
    }
    // Before VS Code saves it by itself, and trims it once more.
    void this.#save(view, true);
  }

  /** @param {View} view */
  async #tellDraft(view) {
    const { id, revision } = view.diff;
    const content = view.edited === undefined ? undefined : await this.text(view, view.edited);
    if (view.isClosing || view.isOver || view.diff.revision !== revision) return;
    this.client.notify("pillion/didChangeDiff", { id, revision, content });
    // Not awaited: a window that ends may not answer.
    void (content === undefined ? this.kept.drop(view) : this.kept.keep(view, content, true));
  }

  /** Pillion hears of all that was typed, before this window ends. */
  tellAll() {
    const views = this.waiting;
    for (const view of views) this.#adopt(view, !view.isInSave);
    return Promise.all(views.map((it) => this.#tellDraft(it)));
  }

  // ---- Showing.

  /** Those that wait for a decision. */
  get waiting() {
    return [...this.views.values()].filter((it) => !it.isClosing && !it.isOver);
  }

  /** The proposal that is on the screen. */
  get front() {
    const shown = vscode.window.tabGroups.all.map((group) => group.activeTab?.input);
    const views = shown.flatMap((input) => (isOurs(input) ? [this.find(input.modified)] : []));
    return [this.current, ...views].find((it) => it && !it.isClosing);
  }

  /**
   * Beside what the person has open: in its place, what they type next would go nowhere, and VS Code does not say whether that is
   * an editor or a terminal.
   * @param {View} view
   * @param {object} options
   */
  async #show(view, options) {
    const { all, activeTabGroup } = vscode.window.tabGroups;
    const ours = [...view.tabs, ...tabs()].map(({ tab }) => tab.group)[0];
    const free = activeTabGroup.activeTab ? all.find((group) => !group.tabs.length) : activeTabGroup;
    const viewColumn = (ours ?? free)?.viewColumn ?? vscode.ViewColumn.Beside;
    const how = { preview: false, viewColumn, ...options };
    await vscode.commands.executeCommand("vscode.diff", view.left, view.right, view.title, how);
    // It may be over since then.
    if (view.isClosing && view.tabs.length) await vscode.window.tabGroups.close(view.tabs.map(({ tab }) => tab), true);
  }

  /** The person wants to see the one that waits longest, or else what was written. */
  async next() {
    const { waiting } = this;
    const view = waiting.find((it) => it !== this.current) ?? waiting[0];
    if (!view && this.status.status?.unseen) return vscode.commands.executeCommand("pillion.changes.focus");
    if (!view) return this.client.tell("No proposal waits for a decision.");
    await this.#show(view, {});
  }

  look() {
    for (const view of this.views.values()) view.seen.look();
    this.status.shows(this.waiting.length);
    this.status.aside(this.front?.sentence);
    const set = (/** @type {string} */ name, /** @type {any} */ value) => void vscode.commands.executeCommand("setContext", name, value);
    const isActive = !!this.current;
    if (isActive !== this.wasActive) set("pillion.isActive", (this.wasActive = isActive));
    const over = [...this.views.values()].filter((it) => it.isOver).map(({ right }) => right.toString());
    if (over.join() !== this.over) set("pillion.over", over);
    this.over = over.join();
  }

  /**
   * Puts sentences above the diff, in place of those that were there.
   * @param {View} view
   * @param {string[]} sentences
   */
  say(view, sentences) {
    view.sentences = sentences;
    this.notes.head(view, [...sentences, ...view.remarks]);
    this.status.aside(this.front?.sentence);
  }

  // ---- Deciding.

  /**
   * @param {View} view
   * @param {"accept" | "reject"} decision
   * @param {{ reason?: string, isClosed?: boolean, seen?: object }} [how]
   */
  async decide(view, decision, { reason, isClosed = false, seen = view.seen.told } = {}) {
    // All of it as it is now: what comes later, the person has not decided about.
    // Who closes the tab before what they typed is saved may be asked by VS Code, which then reads the file again.
    // What a save makes of a text is put back after it.
    const content = view.isInSave && view.own ? view.own.text : isClosed ? (view.edited ?? view.content) : view.content;
    const { id, revision } = view.diff;
    const now = performance.now();
    this.pauses.push(Math.floor(now - this.pressed));
    this.pressed = now;
    if (view.isOver) return this.#remove(view);
    if (view.isDeciding || view.isClosing) return;
    // A save may have begun to trim it.
    if (view.settling && decision === "accept") return this.say(view, ["The text has just been changed: look at it, then accept once more."]);
    view.isDeciding = true;
    try {
      const pausesMs = this.pauses.splice(0);
      const text = await this.text(view, content);
      const notes = [...(reason ? [{ text: reason }] : []), ...this.notes.of(view)];
      const answer = await this.client.ask("pillion/decide", {
        id,
        revision,
        decision,
        content: decision === "accept" && text !== view.diff.proposed ? text : undefined,
        notes: notes.length ? notes : undefined,
        seen: isClosed ? undefined : { ...seen, pausesMs },
      });
      await this.#ruled(view, decision, text, answer);
    } catch (error) {
      this.say(view, [/** @type {Error} */ (error).message]);
    } finally {
      view.isDeciding = false;
    }
  }

  /**
   * @param {View} view
   * @param {string} decision
   * @param {string} text
   * @param {any} answer
   */
  async #ruled(view, decision, text, { settled, message, clipboard, next }) {
    if (clipboard) await vscode.env.clipboard.writeText(clipboard);
    if (!settled) {
      this.say(view, [message]);
      // Nobody can look at it any more, so that nobody is asked again.
      if (!view.tabs.length) await this.#show(view, { preserveFocus: true });
      return;
    }
    if (decision === "accept") await this.kept.drop(view);
    else if (text !== view.diff.proposed) {
      await this.kept.keep(view, text);
      void this.kept.tell(this.client, `${view.title} is rejected.`, [view.name]);
    }
    if (message) this.client.tell(message);
    await this.#remove(view);
    const following = next === null || next === undefined ? undefined : this.views.get(next);
    // Who closes all of a set decides about that one, too.
    if (following && !following.isDeciding && !following.isClosing) await this.#show(following, {});
  }

  /** @param {vscode.TabChangeEvent} event */
  #tabsChanged({ opened, closed }) {
    // VS Code has opened it late: nobody waits for it any more.
    const isDead = (/** @type {vscode.Tab} */ { input }) => isOurs(input) && (this.find(input.modified)?.isClosing ?? true);
    const dead = opened.filter(isDead);
    if (dead.length) void vscode.window.tabGroups.close(dead, true);
    for (const { input } of closed) {
      const view = isOurs(input) ? this.find(input.modified) : undefined;
      // One that is moved is closed in one place and opened in another.
      if (!view || view.isClosing || view.tabs.length) continue;
      if (view.isOver) void this.#remove(view);
      else void this.decide(view, "reject", { isClosed: true });
    }
    for (const view of this.views.values()) {
      if (view.isOver && this.current !== view) void this.#remove(view);
    }
    this.look();
  }

  /**
   * Takes a view away, without asking and without the focus.
   * @param {View} view
   */
  async #remove(view) {
    if (view.isClosing) return;
    view.isClosing = true;
    clearTimeout(view.draft);
    view.settling = void clearTimeout(view.settling);
    this.notes.forget(view);
    const wasHere = this.current === view;
    if (wasHere) this.#justClosed();
    // Saved, the tab closes without a question; what is saved goes nowhere. Whether it is saved, VS Code tells late.
    for (let tries = 0; tries < 5; tries++) {
      if (view.document?.isDirty && !view.document.isClosed) await view.document.save();
      if (!view.tabs.length) break;
      await vscode.window.tabGroups.close(view.tabs.map(({ tab }) => tab), true);
    }
    if (this.views.get(view.diff.id) === view) this.views.delete(view.diff.id);
    // A save may still be under way.
    if (view.document && !view.document.isClosed) this.closing.set(view.right.toString(), view);
    this.look();
  }

  /** For a moment, keys that decide or close do nothing in what is there instead. */
  #justClosed() {
    const set = (/** @type {boolean} */ is) => vscode.commands.executeCommand("setContext", "pillion.hasJustClosed", is);
    void set(true);
    clearTimeout(this.after);
    this.after = setTimeout(() => void set(false), AFTER_MS);
  }

  // ---- What the person does in a view.

  /**
   * Takes the change at the cursor out, or puts the agent's lines back in. Undo takes either back.
   * @param {View} view
   */
  async toggle(view) {
    const { document, editor } = view;
    if (!document || !editor || view.isOver) return;
    const lf = vscode.EndOfLine.LF;
    const [original, proposed, now] = [view.diff.original ?? "", view.diff.proposed, view.uncovered(document.getText())].map((it) => asShown(view.covered(it), lf));
    const { version } = document;
    const at = editor.selection.active.line;
    const isHere = (/** @type {any} */ { start, end }) => at >= start && at < Math.max(end, start + 1);
    const { hunks } = await this.client.ask("pillion/hunks", { original, content: now });
    let hunk = hunks.find((/** @type {any} */ it) => isHere(it.after));
    let [from, there, here] = [original, hunk?.before, hunk?.after];
    if (!hunk) {
      const back = await this.client.ask("pillion/hunks", { original: now, content: proposed });
      hunk = back.hunks.find((/** @type {any} */ it) => isHere(it.before));
      [from, there, here] = [proposed, hunk?.after, hunk?.before];
    }
    if (!hunk) return this.say(view, ["There is no change at the cursor."]);
    if (document.version !== version) return;
    const lines = from.split(/(?<=\n)/).slice(there.start, there.end).join("");
    const all = now.split(/(?<=\n)/);
    await this.#edit(view, [...all.slice(0, here.start), lines, ...all.slice(here.end)].join(""));
  }

  /** @param {View} view */
  async merge(view) {
    const { id, revision, original } = view.diff;
    if (view.diff.originalIsLossy) return this.say(view, ["A file that is not UTF-8 cannot be merged."]);
    const unsaved = unsavedOf(view);
    const { content } = view;
    const proposed = await this.text(view);
    try {
      const merged = await this.client.ask("pillion/merge", { id, revision, original: original ?? undefined, proposed, content: unsaved?.getText() });
      if (view.content !== content) return this.say(view, ["The proposal has changed meanwhile: merge again."]);
      await this.#edit(view, view.covered(merged.content));
      view.isMerged ||= !!unsaved;
      const what = unsaved ? "Your unsaved changes are" : "What has changed on disk is";
      const mine = unsaved ? "your own lines" : "the lines on disk";
      this.say(view, [
        merged.conflicts
          ? `Merged: ${mine} stand in ${merged.conflicts} places that the agent changed, too.`
          : `${what} in the proposal: look, then accept. Undo takes them out.`,
      ]);
    } catch (error) {
      this.say(view, [/** @type {Error} */ (error).message]);
    }
  }

  /** @param {View} view */
  async takeOffered(view) {
    if (view.offered === undefined) return this.say(view, ["There is no text of an earlier proposal of this file."]);
    await this.#edit(view, view.covered(view.offered));
    this.say(view, ["This is what you made of the earlier proposal. Undo brings the agent's text back."]);
  }

  /** @param {View} view */
  nextUnseen(view) {
    const line = view.seen.next;
    const { editor } = view;
    if (line === undefined || !editor) return this.say(view, ["All changes have been on the screen."]);
    const at = new vscode.Position(line, 0);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
  }

  /** Closes what a former window left behind: its proposals come again. */
  static async sweep() {
    await vscode.window.tabGroups.close(tabs().map(({ tab }) => tab), true);
  }
}

/**
 * The document with unsaved changes of the file of a proposal.
 * @param {View} view
 */
function unsavedOf({ diff }) {
  const { fsPath } = vscode.Uri.parse(diff.uri);
  return vscode.workspace.textDocuments.find((it) => it.isDirty && it.uri.scheme === "file" && it.uri.fsPath === fsPath);
}

/**
 * The edit that makes a document's text another one: what both have at the beginning and at the end stays.
 * @param {vscode.TextDocument} document
 * @param {string} text
 */
function difference(document, text) {
  const now = document.getText();
  const wanted = asShown(text, document.eol);
  const [start, end] = alike(now, wanted);
  const range = new vscode.Range(document.positionAt(start), document.positionAt(now.length - end));
  return vscode.TextEdit.replace(range, wanted.slice(start, wanted.length - end));
}

module.exports = { Reviews };
