// Pillion in VS Code and its forks: shows, asks, and reports what was seen. The rules are in `pillion lsp`.

const vscode = require("vscode");
const { Agents } = require("./src/agents");
const { Changes } = require("./src/changes");
const { Client } = require("./src/client");
const { Context } = require("./src/context");
const { Reviews } = require("./src/reviews");
const { Status } = require("./src/status");

/** @type {Client | undefined} */
let running;

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const { subscriptions } = context;
  const client = new Client(context);
  running = client;
  const status = new Status();
  const reviews = new Reviews(client, status, context);
  const changes = new Changes(client, status);
  const agents = new Agents(client, status);
  const seen = new Context(client);
  for (const part of [changes, agents, seen]) part.follow(subscriptions);
  subscriptions.push(client.output, status);
  status.draw();

  Object.assign(client.handlers, {
    "pillion/openDiff": (/** @type {any} */ it) => reviews.open(it),
    "pillion/closeDiff": (/** @type {any} */ it) => reviews.close(it),
    "pillion/diffText": (/** @type {any} */ it) => reviews.textOf(it),
    "pillion/offerText": (/** @type {any} */ it) => reviews.offer(it),
    "pillion/diagnostics": (/** @type {any} */ it) => seen.diagnostics(it),
    "pillion/environment": (/** @type {any} */ it) => {
      status.environment = it;
      status.draw();
    },
    "pillion/didChangeStatus": (/** @type {any} */ it) => {
      client.isWell();
      status.status = it;
      status.problem = undefined;
      status.draw();
      void reviews.again();
      return changes.follows(it.changes);
    },
  });
  client.onStart = () => seen.report(true);
  client.onLeave = () => reviews.tellAll();
  client.onEnd = (problem) => {
    status.problem = problem;
    status.draw();
    void reviews.forget();
  };

  /** @type {Record<string, (...args: any[]) => any>} */
  const commands = {
    ...inView(reviews, {
      accept: (view) => reviews.decide(view, "accept"),
      reject: (view) => reviews.decide(view, "reject"),
      rejectWith: async (view) => {
        const { revision } = view.diff;
        const reason = await ask("Why? The agent reads it.");
        if (reason === undefined) return;
        if (view.diff.revision !== revision) return reviews.say(view, ["A newer proposal has come: look at it first."]);
        return reviews.decide(view, "reject", { reason });
      },
      toggleHunk: (view) => reviews.toggle(view),
      nextUnseen: (view) => reviews.nextUnseen(view),
      merge: (view) => reviews.merge(view),
      takeOffered: (view) => reviews.takeOffered(view),
    }),
    openKept: () => reviews.kept.choose(),
    next: () => reviews.next(),
    tooLate: () => client.tell("The proposal was closed just now: that key did nothing."),
    addNote: (reply) => reviews.notes.add(reply),
    deleteNote: (comment) => reviews.notes.delete(comment),
    sendNotes: () => agents.sendNotes(),
    run: () => agents.run(),
    mention: () => agents.mention(),
    send: () => agents.send(),
    review: () => agents.review(),
    refresh: () => changes.load(),
    look: (node) => changes.look(node),
    keep: (node) => changes.keep(node),
    takeBack: (node) => changes.takeBack(node),
    takeBackWith: async (node) => {
      const reason = await ask("Why? The agent reads it.");
      return reason === undefined ? undefined : changes.takeBack(node, reason);
    },
    undo: (node) => changes.undo(node),
  };
  for (const [name, run] of Object.entries(commands)) {
    const told = async (/** @type {any[]} */ ...args) => {
      try {
        await run(...args);
      } catch (error) {
        void client.say(1, /** @type {Error} */ (error).message);
      }
    };
    subscriptions.push(vscode.commands.registerCommand(`pillion.${name}`, told));
  }
  subscriptions.push(vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("pillion.path") && client.retry()));
  subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders((event) => client.foldersChanged(event)));

  client.start();
  await Reviews.sweep();
}

/**
 * Commands about the proposal in the active tab.
 * @param {Reviews} reviews
 * @param {Record<string, (view: import("./src/view").View) => any>} commands
 */
function inView(reviews, commands) {
  const about = (/** @type {[string, (view: import("./src/view").View) => any]} */ [name, run]) => {
    const find = () => {
      const view = reviews.current;
      if (!view) throw new Error("There is no proposal here. “Pillion: Review the Next Proposal” goes to one.");
      return run(view);
    };
    return [name, find];
  };
  return Object.fromEntries(Object.entries(commands).map(about));
}

/** @param {string} prompt */
const ask = (prompt) => vscode.window.showInputBox({ prompt, ignoreFocusOut: true });

exports.activate = activate;
exports.deactivate = () => running?.leave();
