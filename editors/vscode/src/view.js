// One proposal in VS Code's diff editor: its texts as VS Code has them, and what of it has been on the screen.

const vscode = require("vscode");
const { message } = require("./plain");
const { Seen } = require("./seen");

const RIGHT = "pillion";
const LEFT = "pillion-before";

/** Pillion counts anew for each window: a tab that a former one left is not the proposal of the same number. */
const WINDOW = Date.now().toString(36);

/** @param {number} id */
const query = (id) => `${id}.${WINDOW}`;

/**
 * A text as VS Code shows it in a document: without a BOM, and with one kind of line end.
 * @param {string} text
 * @param {vscode.EndOfLine} eol
 */
const asShown = (text, eol) =>
  text.replace(/^\ufeff/, "").replace(/\r\n|\r|\n/g, eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");

/** Where one of these stands, VS Code asks in a dialog that takes the person's keys, and removes it. */
const ASKED = ["\u2028", "\u2029"];

/** What may stand for them: nobody types it. */
const SIGNS = [..."\u2424\u241e\u241f\u241d\u241c\u2425"];

class View {
  /** @param {any} diff the parameters of `pillion/openDiff` */
  constructor(diff) {
    this.diff = diff;
    const file = vscode.Uri.parse(diff.uri);
    this.right = file.with({ scheme: RIGHT, query: query(diff.id) });
    this.left = file.with({ scheme: LEFT, query: query(diff.id) });
    /** @type {Map<string, string>} by what VS Code asks about: the sign that stands for it */
    this.signs = new Map();
    /** @type {vscode.TextDocument | undefined} */
    this.document = undefined;
    /** @type {Uint8Array | undefined} what was saved of it, which decides nothing */
    this.saved = undefined;
    this.time = Date.now();
    /** @type {vscode.CommentThread[]} the person's notes */
    this.threads = [];
    /** @type {vscode.CommentThread | undefined} what Pillion has to say, above the diff */
    this.said = undefined;
    /** @type {string[]} the same, as Pillion said it */
    this.sentences = [];
    /** The file has unsaved changes in this window, which are not in the text. */
    this.isUnsaved = false;
    this.isMerged = false;
    /** @type {string | undefined} what the person made of an earlier proposal */
    this.offered = undefined;
    /** @type {import("./own").Own | undefined} the text with the person's edits and no others, also once the document is closed */
    this.own = undefined;
    /** @type {string | undefined} the last of these texts that is kept */
    this.adopted = undefined;
    /** @type {NodeJS.Timeout | undefined} until Pillion hears of the text */
    this.draft = undefined;
    /** @type {NodeJS.Timeout | undefined} until a change counts as the person's */
    this.settling = undefined;
    this.isSaving = false;
    /** VS Code changes the text that it saves. */
    this.isInSave = false;
    this.saves = 0;
    this.isDeciding = false;
    this.isClosing = false;
    /** Nobody can decide about it any more; the person is in it. */
    this.isOver = false;
    this.seen = new Seen(this);
  }

  get name() {
    return this.diff.path.split(/[\\/]/).pop();
  }

  get title() {
    const { set, agent, does } = this.diff;
    return message([this.name, set?.label, `${agent.displayName} ${does ?? "proposes"}`].filter(Boolean).join(" · "));
  }

  /** @param {any} diff a newer proposal */
  renew(diff) {
    this.diff = diff;
    this.saved = undefined;
    this.signs.clear();
    this.own = undefined;
    this.adopted = undefined;
    this.offered = undefined;
    this.isMerged = false;
    this.time = Math.max(Date.now(), this.time + 1);
    this.seen = new Seen(this);
  }

  /** The proposal as the document shows it. */
  get shown() {
    return asShown(this.covered(this.diff.proposed), this.document?.eol ?? vscode.EndOfLine.LF);
  }

  /** The same with the person's edits; none if there are none. */
  get edited() {
    const text = this.own?.text;
    return text === this.shown ? undefined : text;
  }

  /**
   * A text with signs in place of what VS Code would ask about.
   * @param {string} text
   */
  covered(text) {
    const { original, proposed } = this.diff;
    const isIn = (/** @type {string} */ it) => [text, original ?? "", proposed].some((all) => all.includes(it));
    const missing = ASKED.filter((it) => !this.signs.has(it) && text.includes(it));
    const free = SIGNS.filter((it) => ![...this.signs.values()].includes(it) && missing.length && !isIn(it));
    for (const it of missing) this.signs.set(it, free.shift() ?? fail(it));
    for (const [it, sign] of this.signs) {
      if (text.includes(sign)) fail(it);
      text = text.replaceAll(it, sign);
    }
    return text;
  }

  /**
   * The text itself.
   * @param {string} text as it is shown
   */
  uncovered(text) {
    for (const [it, sign] of this.signs) text = text.replaceAll(sign, it);
    return text;
  }

  /** What there is to know of the text, beside what Pillion says of it. */
  get remarks() {
    const signs = [...this.signs].map(([it, sign]) => `Here “${sign}” stands for ${nameOf(it)}, which VS Code would ask to remove.`);
    const hint = `Your unsaved changes of ${this.name} are not in it: “Pillion: Merge with the File” takes them in.`;
    return [...signs, ...(this.isUnsaved && !this.isMerged && !this.diff.originalIsOther ? [hint] : [])];
  }

  /** The same for one line of the window, with how to decide if there is nothing else to say. */
  get sentence() {
    const all = [...this.sentences, ...this.remarks];
    const how = `“Pillion: Accept” (${process.platform === "darwin" ? "Cmd" : "Ctrl"}+S) accepts, closing the tab rejects.`;
    return all.length || this.isOver || this.diff.originalIsOther ? all.join(" ") || undefined : how;
  }

  /** What stands in the view now. */
  get content() {
    if (!this.document || this.document.isClosed) return this.edited ?? this.shown;
    return this.document.getText();
  }

  get isEdited() {
    return this.seen.isLoaded && this.content !== this.shown;
  }

  get tabs() {
    return tabs().filter(({ input }) => input.modified.query === this.right.query);
  }

  get editor() {
    return vscode.window.visibleTextEditors.find((it) => it.document === this.document);
  }
}

/** @param {string} character */
const nameOf = (character) => `U+${character.charCodeAt(0).toString(16)}`;

/**
 * @param {string} character
 * @returns {never}
 */
function fail(character) {
  throw new Error(`VS Code would remove ${nameOf(character)} from this text, and no sign is free to stand for it.`);
}

/**
 * The tabs with proposals.
 * @returns {{ tab: vscode.Tab, input: vscode.TabInputTextDiff }[]}
 */
function tabs() {
  const all = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return all.flatMap((tab) => (isOurs(tab.input) ? [{ tab, input: tab.input }] : []));
}

/**
 * @param {unknown} input
 * @returns {input is vscode.TabInputTextDiff}
 */
const isOurs = (input) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === RIGHT;

module.exports = { View, asShown, tabs, isOurs, RIGHT, LEFT };
