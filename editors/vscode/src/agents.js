// Agents: started in a terminal, pointed to files, given text, and told when to ask.

const vscode = require("vscode");
const plain = require("./plain");

class Agents {
  /**
   * @param {import("./client").Client} client
   * @param {import("./status").Status} status
   */
  constructor(client, status) {
    this.client = client;
    this.status = status;
    /** @type {{ terminal: vscode.Terminal, agent: any }[]} the one used last at the end */
    this.started = [];
  }

  /** @param {vscode.Disposable[]} subscriptions */
  follow(subscriptions) {
    const { window } = vscode;
    subscriptions.push(
      window.onDidCloseTerminal((terminal) => {
        this.started = this.started.filter((it) => it.terminal !== terminal);
      }),
      window.onDidChangeActiveTerminal((terminal) => {
        const at = this.started.findIndex((it) => it.terminal === terminal);
        if (at >= 0) this.started.push(...this.started.splice(at, 1));
      }),
    );
  }

  async run() {
    const { environment } = this.status;
    const rows = (environment?.agents ?? []).map((/** @type {any} */ agent) => ({
      label: agent.displayName,
      description: agent.command.join(" "),
      agent,
    }));
    const row = await vscode.window.showQuickPick(rows, { placeHolder: "Which agent?" });
    if (!row) return;
    const { agent } = /** @type {any} */ (row);
    const through = agent.needsRun ? [this.client.program, "run", "--port", String(environment.port)] : [];
    const [shellPath, ...shellArgs] = [...through, ...agent.command];
    const terminal = vscode.window.createTerminal({
      name: agent.displayName,
      cwd: environment.startFolder ?? undefined,
      env: environment.variables,
      iconPath: new vscode.ThemeIcon("robot"),
      shellPath,
      shellArgs,
    });
    this.started.push({ terminal, agent });
    terminal.show();
  }

  /** Points an agent to the file, or to the lines that are selected. */
  async mention() {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== "file") return this.client.say(3, "There is no file here to mention.");
    const { document, selection } = editor;
    const { start, end, isEmpty } = selection;
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    const lines = isEmpty ? undefined : { first: start.line, last };
    if (this.status.status?.mentions.length) {
      const uri = document.uri.toString();
      const { agent } = await this.client.ask("pillion/mention", { uri, lines });
      if (agent) return this.client.tell(`It is in the prompt of ${agent.displayName}.`);
    }
    const name = vscode.workspace.asRelativePath(document.uri, false);
    this.#type((agent) => `@${name}${lines && agent.readsLinesInPrompt ? `#L${lines.first + 1}-${lines.last + 1}` : ""} `);
  }

  /** Types what the person says, or what they have selected, into the prompt. It is sent with their Enter. */
  async send() {
    const editor = vscode.window.activeTextEditor;
    const selected = editor && !editor.selection.isEmpty ? editor.document.getText(editor.selection) : "";
    const text = selected || (await vscode.window.showInputBox({ prompt: "Text for the agent", ignoreFocusOut: true }));
    if (text) this.#type(() => text);
  }

  /** @param {(agent: any) => string} words */
  #type(words) {
    const last = this.started.at(-1);
    if (!last) return this.client.say(3, "No agent runs in a terminal that Pillion has started here: “Pillion: Start an Agent” starts one.");
    // As pasted: nothing in it is a key.
    const text = plain.message(words(last.agent)).replace(/\r\n?/g, "\n");
    last.terminal.sendText(text.includes("\n") ? `\u001b[200~${text}\u001b[201~` : text, false);
    last.terminal.show();
  }

  async review() {
    const choices = this.status.status?.review?.choices;
    if (!choices) return this.client.say(3, "No connected agent is known to ask as you choose.");
    const choice = await vscode.window.showQuickPick(choices, { placeHolder: "When do agents ask before they change files?" });
    if (choice) await this.#choose("pillion/review", { choice });
  }

  sendNotes() {
    return this.#choose("pillion/sendNotes");
  }

  /**
   * @param {string} method
   * @param {object} [params]
   */
  async #choose(method, params) {
    this.client.outcome(await this.client.ask(method, params ?? {}));
  }
}

module.exports = { Agents };
