// Notes for the agent, and what Pillion says above a diff: VS Code's comments, as plain text.

const vscode = require("vscode");
const plain = require("./plain");
const { RIGHT } = require("./view");

/** Comments on a whole file are known from this version on. */
const FILE_COMMENTS = 95;
const hasFileComments = Number(vscode.version.split(".")[1]) >= FILE_COMMENTS;

class Notes {
  /**
   * @param {import("./client").Client} client
   * @param {(uri: vscode.Uri) => import("./view").View | undefined} find
   */
  constructor(client, find) {
    this.client = client;
    this.find = find;
    this.controller = vscode.comments.createCommentController("pillion", "Pillion");
    this.controller.options = { prompt: "Add a note for the agent", placeHolder: "The agent reads it with your decision" };
    this.controller.commentingRangeProvider = {
      provideCommentingRanges: (/** @type {vscode.TextDocument} */ document) => {
        if (document.uri.scheme !== RIGHT || !find(document.uri)) return undefined;
        const ranges = [new vscode.Range(0, 0, document.lineCount - 1, 0)];
        return hasFileComments ? /** @type {any} */ ({ enableFileComments: true, ranges }) : ranges;
      },
    };
  }

  dispose() {
    this.controller.dispose();
  }

  /** @param {vscode.CommentReply} reply */
  add({ thread, text }) {
    const view = this.find(thread.uri);
    if (!view || !text.trim()) return;
    const comment = { body: text, mode: vscode.CommentMode.Preview, author: { name: "You" }, contextValue: "note", thread };
    thread.comments = [...thread.comments, comment];
    thread.label = "Note for the agent";
    if (!view.threads.includes(thread)) view.threads.push(thread);
    this.#tell(view);
  }

  /** @param {vscode.Comment & { thread: vscode.CommentThread }} comment */
  delete(comment) {
    const { thread } = comment;
    const view = this.find(thread.uri);
    thread.comments = thread.comments.filter((it) => it !== comment);
    if (thread.comments.length) return view && this.#tell(view);
    thread.dispose();
    if (!view) return;
    view.threads = view.threads.filter((it) => it !== thread);
    this.#tell(view);
  }

  /** @param {import("./view").View} view */
  of(view) {
    return view.threads.flatMap(({ range, comments }) =>
      comments.map(({ body }) => ({
        lines: range ? { first: range.start.line, last: range.end.line } : undefined,
        text: String(body),
      })),
    );
  }

  /** @param {import("./view").View} view */
  #tell(view) {
    const { id, revision } = view.diff;
    this.client.notify("pillion/didChangeNotes", { id, revision, notes: this.of(view) });
  }

  /**
   * @param {import("./view").View} view
   * @param {string[]} sentences
   */
  head(view, sentences) {
    view.said?.dispose();
    view.said = undefined;
    if (!sentences.length) return;
    const author = { name: "Pillion" };
    const comments = sentences.map((it) => ({ body: plain.message(it), mode: vscode.CommentMode.Preview, author }));
    const above = hasFileComments ? /** @type {any} */ (undefined) : new vscode.Range(0, 0, 0, 0);
    view.said = this.controller.createCommentThread(view.right, above, comments);
    view.said.canReply = false;
    view.said.label = "Pillion";
    view.said.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
  }

  /** @param {import("./view").View} view */
  forget(view) {
    for (const thread of [...view.threads, ...(view.said ? [view.said] : [])]) thread.dispose();
    view.threads = [];
    view.said = undefined;
  }
}

module.exports = { Notes };
