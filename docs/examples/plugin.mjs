// A plugin for an editor that does not exist: what every plugin for Pillion does, with commands in place of keys.
// `node plugin.mjs` in a project, then an agent in the same folder. ../editor-protocol.md explains each message.
//
//   focus FILE     the person goes to a file
//   append TEXT    adds a line to the proposal that is shown
//   accept         accepts the proposal that is shown, as it stands
//   reject         rejects it
//   quit

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const FIRST_RESTART_MS = 1000;
const LAST_RESTART_MS = 60000;

const openFiles = new Map(); // by path: when it was focused last
const views = new Map(); // by id: { diff, text, drawnAt }, the one that is shown last

let pillion; // the running `pillion lsp`
let restart = FIRST_RESTART_MS;
let isQuitting = false;
let lastId = 0;
const asked = new Map(); // by id of a request: what to do with its result

// ---- The connection: JSON-RPC with a header, as in the Language Server Protocol.

function start() {
  pillion = spawn("pillion", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  let input = Buffer.alloc(0);
  pillion.stdout.on("data", (bytes) => {
    input = Buffer.concat([input, bytes]);
    for (;;) {
      const headerEnd = input.indexOf("\r\n\r\n");
      if (headerEnd < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(input.subarray(0, headerEnd))[1]);
      const end = headerEnd + 4 + length;
      if (input.length < end) return;
      const message = JSON.parse(input.subarray(headerEnd + 4, end));
      input = input.subarray(end);
      receive(message);
    }
  });
  pillion.stdin.on("error", () => {}); // "close" says it
  pillion.on("error", (error) => say(`pillion does not start: ${error.message}`));
  pillion.on("close", () => {
    // Its diffs are gone with it: no agent would hear of a decision.
    for (const id of [...views.keys()]) forget(id);
    if (isQuitting) process.exit();
    say(`pillion ended; it is started again in ${restart / 1000} s`);
    setTimeout(start, restart);
    restart = Math.min(restart * 2, LAST_RESTART_MS);
  });
  const params = {
    processId: process.pid,
    clientInfo: { name: "Example" },
    workspaceFolders: [{ uri: pathToFileURL(process.cwd()).href }],
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      experimental: { pillion: { version: "0.1.0" } },
    },
  };
  asked.clear();
  ask("initialize", params, () => {
    send({ method: "initialized", params: {} });
    reportContext();
  });
}

function ask(method, params, then) {
  lastId += 1;
  asked.set(lastId, then);
  send({ id: lastId, method, params });
}

function send(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  pillion.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
  pillion.stdin.write(body);
}

function receive({ id, method, params, result, error }) {
  if (method === undefined) {
    const then = asked.get(id);
    asked.delete(id);
    return error ? say(`pillion refuses: ${error.message}`) : then?.(result);
  }
  const answer = requests[method];
  if (id === undefined) return notifications[method]?.(params);
  if (!answer) return send({ id, error: { code: -32601, message: `unknown method ${method}` } });
  try {
    send({ id, result: answer(params) });
  } catch (error) {
    send({ id, error: { code: -32603, message: error.message } });
  }
}

const notifications = {
  "pillion/didChangeStatus": ({ agents, pendingDiffs }) => {
    restart = FIRST_RESTART_MS;
    const names = agents.map((agent) => agent.displayName).join(", ");
    say(`agents: ${names || "none"}; to review: ${pendingDiffs}`);
  },
  "pillion/environment": () => {}, // an editor with terminals sets the variables there
  "window/showMessage": ({ message }) => say(message),
};

// ---- What the person looks at.

function focus(path) {
  openFiles.set(resolve(path), Date.now());
  reportContext();
}

function reportContext() {
  const newest = Math.max(...openFiles.values());
  const files = [...openFiles].map(([path, lastFocused]) => ({
    uri: pathToFileURL(path).href,
    lastFocused,
    active: lastFocused === newest,
    ...(lastFocused === newest && { position: { line: 0, character: 0 } }),
  }));
  send({ method: "pillion/didChangeContext", params: { openFiles: files } });
}

// ---- Proposals.

const requests = {
  "pillion/openDiff": (diff) => {
    // A newer proposal takes the place of the older one, and has not been seen.
    views.delete(diff.id);
    const view = { diff, text: diff.proposed, drawnAt: 0 };
    views.set(diff.id, view);
    draw(view);
    return null;
  },
  "pillion/closeDiff": ({ id, reason }) => {
    const view = views.get(id);
    if (!view) throw new Error(`no view for ${id}`);
    say(`${view.diff.path} is closed: ${reason}`);
    forget(id);
    return { content: view.text };
  },
  "pillion/diffText": ({ id, revision }) => {
    const view = views.get(id);
    if (view?.diff.revision !== revision) throw new Error(`no view for ${id}, or another revision in it`);
    return { content: view.text };
  },
  "pillion/diagnostics": () => ({ files: [] }),
};

function draw(view) {
  const { diff, text } = view;
  say(`${diff.agent.displayName} proposes ${diff.path}${diff.set ? ` (${diff.set.label})` : ""}${diff.original === null ? " (new)" : ""}:`);
  for (const note of diff.notes ?? []) say(`note: ${note}`);
  say(text);
  view.drawnAt = Date.now();
}

function shown() {
  const view = [...views.values()].at(-1);
  if (!view) say("nothing to review");
  return view;
}

function append(line) {
  const view = shown();
  if (!view) return;
  view.text += `${line}\n`;
  say(view.text);
}

function decide(decision) {
  const view = shown();
  if (!view) return;
  const { diff, text, drawnAt } = view;
  const params = {
    id: diff.id,
    revision: diff.revision,
    decision,
    content: decision === "accept" ? text : undefined,
    // A terminal scrolls: all of what was printed has been on the screen.
    seen: { drawnMs: Date.now() - drawnAt, typed: true },
  };
  // Pillion alone knows whether this counts: the view stays until it has said so.
  ask("pillion/decide", params, ({ settled, message }) => (settled ? forget(diff.id) : say(message)));
}

function forget(id) {
  views.delete(id);
}

// ---- The person. What others send never reaches the terminal raw: it could control it.

function say(text) {
  const safe = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "�");
  console.log(safe);
}

function quit() {
  isQuitting = true;
  ask("shutdown", undefined, () => {});
  send({ method: "exit" });
}

const commands = {
  focus,
  append,
  accept: () => decide("accept"),
  reject: () => decide("reject"),
  quit,
};

start();
const terminal = createInterface({ input: process.stdin });
terminal.on("line", (line) => {
  const [name, ...rest] = line.split(" ");
  const command = commands[name];
  if (command) command(rest.join(" "));
  else say(`unknown command ${name}: focus, append, accept, reject or quit`);
});
terminal.on("close", () => isQuitting || quit());
