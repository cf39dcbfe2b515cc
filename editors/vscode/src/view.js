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

class View {
  /** @param {any} diff the parameters of `pillion/openDiff` */
  constructor(diff) {
    this.diff = diff;
    const file = vscode.Uri.parse(diff.uri);
    this.right = file.with({ scheme: RIGHT, query: query(diff.id) });
    this.left = file.with({ scheme: LEFT, query: query(diff.id) });
    /** @type {vscode.TextDocument | undefined} */
    this.document = undefined;
    /** @type {Uint8Array | undefined} what was saved of it, which decides nothing */
    this.saved = undefined;
    this.time = Date.now();
    /** @type {vscode.CommentThread[]} the person's notes */
    this.threads = [];
    /** @type {vscode.CommentThread | undefined} what Pillion has to say, above the diff */
    this.said = undefined;
    /** @type {string | undefined} the same for the status bar */
    this.sentence = undefined;
    /** @type {string | undefined} what the person made of an earlier proposal */
    this.offered = undefined;
    /** @type {string | undefined} the text with the person's edits, also once the document is closed */
    this.edited = undefined;
    /** @type {NodeJS.Timeout | undefined} until Pillion hears of the text */
    this.draft = undefined;
    /** @type {NodeJS.Timeout | undefined} until a change counts as the person's */
    this.settling = undefined;
    this.isSaving = false;
    /** VS Code changes the text that it saves. */
    this.isInSave = false;
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
    this.edited = undefined;
    this.offered = undefined;
    this.time = Math.max(Date.now(), this.time + 1);
    this.seen = new Seen(this);
  }

  /** The proposal as the document shows it. */
  get shown() {
    return asShown(this.diff.proposed, this.document?.eol ?? vscode.EndOfLine.LF);
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
