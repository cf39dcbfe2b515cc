// The status bar: what waits, who is connected, and what Pillion says of the proposal that is looked at.

const vscode = require("vscode");
const plain = require("./plain");

class Status {
  constructor() {
    this.item = vscode.window.createStatusBarItem("pillion.status", vscode.StatusBarAlignment.Left, 10);
    this.item.name = "Pillion";
    this.item.command = "pillion.next";
    this.said = vscode.window.createStatusBarItem("pillion.said", vscode.StatusBarAlignment.Left, 9);
    this.said.name = "Pillion: What It Says";
    this.said.command = "pillion.next";
    /** How many proposals are here: Pillion counts one once VS Code has answered that it shows it, which takes a while. */
    this.shown = 0;
    /** @type {any} the last `pillion/didChangeStatus` */
    this.status = undefined;
    /** @type {any} the last `pillion/environment` */
    this.environment = undefined;
    /** @type {string | undefined} why Pillion does not run */
    this.problem = "Pillion starts.";
  }

  dispose() {
    this.item.dispose();
    this.said.dispose();
  }

  /** @param {number} count */
  shows(count) {
    if (count === this.shown) return;
    this.shown = count;
    this.draw();
  }

  draw() {
    const { status, environment, problem } = this;
    if (problem || !status) {
      this.item.text = "$(warning) Pillion";
      this.item.tooltip = problem;
      return this.item.show();
    }
    const names = status.agents.map((/** @type {any} */ it) => it.displayName).join(", ");
    const waits = Math.max(status.pendingDiffs, this.shown);
    const waiting = waits ? `${waits} to review` : names || "no agent";
    const parts = [waiting, status.unseen ? `${status.unseen} unseen` : undefined, status.decided ?? undefined];
    this.item.text = `$(git-pull-request) ${plain.label(parts.filter(Boolean).join(" · "))}`;
    this.item.backgroundColor = waits ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const lines = [
      names ? `Connected to Pillion: ${names}.` : "No agent is connected to Pillion.",
      ...(environment && !environment.roots.length ? ["No agent can connect: the window has no folder."] : []),
      ...(status.review ? [status.review.label, status.review.unasked] : []),
      ...status.notes,
      ...status.warnings,
      ...this.#beside(),
    ];
    this.item.tooltip = plain.message(lines.filter(Boolean).join("\n"));
    this.item.show();
  }

  /** The agents whose own extension is in this window, too: who starts an agent decides to whom it connects. */
  #beside() {
    const agents = this.environment?.agents ?? [];
    const own = agents.filter((/** @type {any} */ it) => it.extension && vscode.extensions.getExtension(it.extension));
    return own.map(
      (/** @type {any} */ { name, displayName }) =>
        `${displayName}'s own extension is here, too: a \`${name}\` that you type in a terminal connects to that one, and one that ` +
        `“Pillion: Start an Agent” starts connects to Pillion. \`pillion hook install ${name}\` shows its changes here all the same.`,
    );
  }

  /** @param {string | undefined} sentence */
  aside(sentence) {
    if (!sentence) return this.said.hide();
    this.said.text = plain.label(sentence);
    this.said.tooltip = plain.message(sentence);
    this.said.show();
  }
}

module.exports = { Status };
