// `pillion lsp`: started, started again when it ends, and left so that what is pending waits for the next window.

const vscode = require("vscode");
const fs = require("fs");
const path = require("path");
const { spawn } = require("child_process");
const { Connection } = require("./connection");
const plain = require("./plain");

const FIRST_RESTART_MS = 1000;
const LAST_RESTART_MS = 60000;

/** The time that VS Code leaves an extension for its end is short. */
const LEAVE_MS = 1500;

/** So long stands in the status bar what was done. */
const TOLD_MS = 10000;

/** By `type` of `window/showMessage`. */
const SHOW = [vscode.window.showErrorMessage, vscode.window.showWarningMessage, vscode.window.showInformationMessage];

class Client {
  /** @param {vscode.ExtensionContext} context */
  constructor(context) {
    this.context = context;
    this.output = vscode.window.createOutputChannel("Pillion", { log: true });
    /** @type {Record<string, import("./connection").Handler>} */
    this.handlers = {
      "window/showMessage": ({ type, message }) => void this.say(type, message),
      "window/logMessage": ({ message }) => this.output.info(message),
    };
    /** @type {() => void} */
    this.onStart = () => {};
    /** @type {(problem: string) => void} */
    this.onEnd = () => {};
    /** @type {() => Promise<unknown>} */
    this.onLeave = () => Promise.resolve();
    this.restart = FIRST_RESTART_MS;
    this.isLeaving = false;
    /** @type {Connection | undefined} */
    this.connection = undefined;
  }

  /** The setting's program, the one beside the extension, or that on PATH. */
  get program() {
    const chosen = vscode.workspace.getConfiguration("pillion").get("path", "");
    const own = path.join(this.context.extensionPath, "bin", process.platform === "win32" ? "pillion.exe" : "pillion");
    return chosen || (fs.existsSync(own) ? own : "pillion");
  }

  start() {
    const { program } = this;
    const child = spawn(program, ["lsp", "--editor", vscode.env.appName], { stdio: "pipe" });
    const connection = new Connection(child, this.handlers);
    this.connection = connection;
    child.stderr.on("data", (bytes) => this.output.info(String(bytes).trimEnd()));
    let isOver = false;
    const ended = (/** @type {string} */ problem) => {
      if (isOver || this.isLeaving) return;
      isOver = true;
      this.output.warn(problem);
      this.onEnd(problem);
      this.timer = setTimeout(() => this.start(), this.restart);
      this.restart = Math.min(this.restart * 2, LAST_RESTART_MS);
    };
    child.on("error", (error) => {
      const hint = "Install it, or name it in the setting `pillion.path`; programs that only a shell's start file puts on PATH are not found.";
      const problem = `The program ${program} does not start (${error.message}). ${hint}`;
      if (this.restart === FIRST_RESTART_MS) void this.say(1, problem);
      ended(problem);
    });
    child.on("close", (code) => ended(`Pillion has ended (${code ?? "killed"}). It is started again.`));
    void this.#initialize(connection).catch((error) => this.output.error(error.message));
  }

  /** Another program is named, or VS Code has read late which one. */
  retry() {
    if (this.isLeaving || !this.connection?.isOver) return;
    clearTimeout(this.timer);
    this.start();
  }

  /** @param {Connection} connection */
  async #initialize(connection) {
    const { version } = this.context.extension.packageJSON;
    await connection.ask("initialize", {
      // The process above the extension host is above the window's terminals, too.
      processId: process.ppid,
      clientInfo: { name: vscode.env.appName, version: vscode.version },
      workspaceFolders: folders(vscode.workspace.workspaceFolders ?? []),
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        experimental: { pillion: { version } },
      },
    });
    connection.notify("initialized", {});
    this.onStart();
  }

  /** Pillion is well: should it end once more, it is started again at once. */
  isWell() {
    this.restart = FIRST_RESTART_MS;
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  async ask(method, params) {
    if (!this.connection) throw new Error("Pillion is not running.");
    return this.connection.ask(method, params);
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    this.connection?.notify(method, params);
  }

  /**
   * All of a message, which may name a file to remember, is in the log as well.
   * @param {number} type
   * @param {string} text
   * @param {...string} buttons
   */
  async say(type, text, ...buttons) {
    const message = plain.message(text);
    this.output.info(message);
    return (SHOW[type - 1] ?? SHOW[2])(message, ...buttons);
  }

  /**
   * What needs no answer and takes nobody's place: in the status bar, for a while.
   * @param {string} text
   */
  tell(text) {
    this.output.info(plain.message(text));
    vscode.window.setStatusBarMessage(plain.label(text), TOLD_MS);
  }

  /** @param {{ done: boolean, message: string }} outcome of what the person wanted */
  outcome({ done, message }) {
    if (done) this.tell(message);
    else void this.say(2, message);
  }

  /** @param {vscode.WorkspaceFoldersChangeEvent} event */
  foldersChanged({ added, removed }) {
    const event = { added: folders(added), removed: folders(removed) };
    this.notify("workspace/didChangeWorkspaceFolders", { event });
  }

  /** The window closes, or comes again at once: VS Code does not say which. */
  async leave() {
    this.isLeaving = true;
    clearTimeout(this.timer);
    const { connection } = this;
    if (!connection) return;
    const late = new Promise((done) => setTimeout(done, LEAVE_MS));
    const leave = async () => {
      await this.onLeave();
      await connection.ask("pillion/leave");
    };
    await Promise.race([leave().catch(() => {}), late]);
    connection.notify("exit");
  }
}

/** @param {readonly vscode.WorkspaceFolder[]} all */
const folders = (all) => all.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => ({ uri: uri.toString() }));

module.exports = { Client };
