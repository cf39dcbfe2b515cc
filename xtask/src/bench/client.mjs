// The benchmark's client, the same for every server: Node's fetch, as the real agents use it.
//
// In, one JSON object per line, answered by one line each:
//   {"do":"start","targets":[{"name":N,"url":U,"close":U,"decide":U,"token":T,
//    "focus":{"url":U,"token":T},"view":{"socket":P,"attach":TEXT},"socket":{"url":U,"token":T,"isSized":BOOLEAN}}],
//    "file":P,"texts":{"1024":TEXT,…}}
//   A target that is "silent" answers to "focus" and sends no context.
//   A target with a "view" has a local socket where changes of the context are reported, after the line "attach".
//   "close" is where closeDiff goes, if not to "url", and "decide" where openDiff goes that is decided at once. A size ends both,
//   and the URL of a socket that "isSized".
//   {"do":"sessions","count":N}             each target then has N sessions with open streams
//   {"do":"diffs","names":["NAME",…],"size":N,"rounds":N}
//                                           -> {"NAME":{"open":[MS,…],"close":[MS,…]},…}
//   {"do":"decisions","size":N,"rounds":N}  -> {"NAME/http":[MS,…],"NAME/websocket":[MS,…],…}:
//                                           from openDiff until the text that was accepted is here
//   {"do":"context","rounds":N}             -> {"NAME":[MS,…],…}: until the last session has it
//   {"do":"burst","name":N,"changes":N}     -> {"received":N,"ms":MS}
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const PROTOCOL = '2025-11-25';
const JSON_TYPE = { 'content-type': 'application/json' };

/** One agent's session: its headers, and what its event stream brought. */
class Session {
  updates = 0;
  line = 0;
  #abort = new AbortController();

  static async open(target) {
    const session = new Session();
    session.target = target;
    session.headers = {
      ...JSON_TYPE,
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${target.token}`,
    };
    const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
    const { response } = await session.post(target.url, { id: 0, method: 'initialize', params });
    session.headers['mcp-session-id'] = response.headers.get('mcp-session-id');
    session.headers['mcp-protocol-version'] = PROTOCOL;
    await session.post(target.url, { method: 'notifications/initialized' });
    await session.#listen();
    return session;
  }

  /** Sends a message and reads the whole answer. */
  async post(url, message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const response = await fetch(url, { method: 'POST', headers: this.headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${this.target.name} answered ${response.status}: ${text}`);
    return { response, text };
  }

  async #listen() {
    const { accept, ...rest } = this.headers;
    const headers = { ...rest, accept: 'text/event-stream' };
    const response = await fetch(this.target.url, { headers, signal: this.#abort.signal });
    if (!response.ok) throw new Error(`${this.target.name} refused a stream: ${response.status}`);
    this.#read(response.body).catch((error) => {
      if (!this.#abort.signal.aborted) throw error;
    });
  }

  async #read(body) {
    let rest = '';
    for await (const piece of body.pipeThrough(new TextDecoderStream())) {
      const isEnd = piece.includes('\n\n') || (piece.startsWith('\n') && rest.endsWith('\n'));
      rest += piece;
      // A text of a megabyte comes in many pieces: only the last is worth looking through them.
      if (!isEnd) continue;
      const events = rest.split('\n\n');
      rest = events.pop();
      for (const event of events) this.#heard(event);
    }
  }

  #heard(event) {
    // Fast, for an event that holds a whole file: the method stands before the parameters or at the end.
    if ([event.slice(0, 100), event.slice(-100)].some((part) => part.includes('ide/diffAccepted'))) {
      this.decided?.(event.slice(event.indexOf('{')));
      return;
    }
    if (!event.includes('ide/contextUpdate')) return;
    const data = event.slice(event.indexOf('{'));
    const [file] = JSON.parse(data).params.workspaceState?.openFiles ?? [];
    this.updates += 1;
    this.line = file?.cursor?.line ?? 0;
    this.target.heard?.();
  }

  close() {
    this.#abort.abort();
  }
}

/** Claude Code's session. Every call has the same id: there is one at a time. */
class Socket {
  static async open(target, size) {
    const { url, token, isSized } = target.socket;
    const socket = new Socket();
    socket.name = target.name;
    // A file of its own: of one that another session has accepted and not written, the person is asked.
    socket.file = `${file}.${size}`;
    writeFileSync(socket.file, 'export {};\n');
    const headers = { 'x-claude-code-ide-authorization': token };
    socket.ws = new WebSocket(isSized ? url + size : url, { protocols: ['mcp'], headers });
    socket.ws.onmessage = ({ data }) => {
      if (/"id":[01][,}]/.test(data.slice(0, 40))) socket.answered?.(data);
    };
    await new Promise((resolve, reject) => {
      socket.ws.onopen = resolve;
      socket.ws.onerror = ({ message }) => reject(new Error(`no WebSocket to ${target.name}: ${message}`));
    });
    const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'claude-code', version: '9.0.0' } };
    await socket.ask({ id: 0, method: 'initialize', params });
    socket.ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    return socket;
  }

  /** Sends a request and waits for its answer. */
  async ask(message) {
    const answer = inTime(this.name, (resolve) => (this.answered = resolve));
    this.ws.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    return await answer;
  }

  /** A proposal until it is decided, timed from the arguments to the last byte of the answer. */
  async propose(newContent, isChecked) {
    const start = performance.now();
    const args = { old_file_path: this.file, new_file_path: this.file, new_file_contents: newContent, tab_name: `tab ${++lastId}` };
    const answer = await this.ask({ id: 1, method: 'tools/call', params: { name: 'openDiff', arguments: args } });
    const took = performance.now() - start;
    if (isChecked) {
      const [word, text] = JSON.parse(answer).result.content.map((block) => block.text);
      if (word !== 'FILE_SAVED' || text !== newContent) throw new Error(`${this.name} lost the text`);
    }
    return took;
  }

  close() {
    this.ws.close();
  }
}

/** The same over HTTP. */
async function propose(target, size, newContent, isChecked) {
  const [session] = target.sessions;
  const outcome = inTime(target.name, (resolve) => (session.decided = resolve));
  const url = target.decide ? target.decide + size : target.url;
  const start = performance.now();
  await call(session, url, 'openDiff', { filePath: file, newContent });
  const event = await outcome;
  const took = performance.now() - start;
  if (isChecked && JSON.parse(event).params.content !== newContent) throw new Error(`${target.name} lost the text`);
  return took;
}

/** A promise that fails after ten seconds. */
async function inTime(name, executor) {
  let late;
  const timeout = new Promise((_, reject) => {
    late = setTimeout(() => reject(new Error(`${name} did not answer`)), 10_000);
  });
  try {
    return await Promise.race([new Promise(executor), timeout]);
  } finally {
    clearTimeout(late);
  }
}

let targets = [];
let texts = {};
let file = '';
let lastId = 0;
let lastLine = 1;

/** One tool call, timed from the arguments to the last byte of the answer. */
async function call(session, url, name, args) {
  const start = performance.now();
  const { text } = await session.post(url, { id: ++lastId, method: 'tools/call', params: { name, arguments: args } });
  const took = performance.now() - start;
  if (!text.includes('"result"') || text.includes('"isError":true')) {
    throw new Error(`${session.target.name} failed at ${name}: ${text.slice(0, 300)}`);
  }
  return { took, text };
}

/** A diff that is opened and closed at once. */
async function openAndClose(target, size, newContent, isChecked) {
  const [session] = target.sessions;
  const open = await call(session, target.url, 'openDiff', { filePath: file, newContent });
  const url = target.close ? target.close + size : target.url;
  const close = await call(session, url, 'closeDiff', { filePath: file, suppressNotification: true });
  if (isChecked && closedText(close.text) !== newContent) throw new Error(`${target.name} lost the text`);
  return { open: open.took, close: close.took };
}

/** The text that an answer to closeDiff holds. */
function closedText(answer) {
  const { result } = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
  return JSON.parse(result.content[0].text).content;
}

/** Tells a target of a cursor line that it has not heard of, and does not wait until agents are told. */
async function focus(target, line) {
  const cursor = { line, character: 1 };
  const focused = { path: file, timestamp: Date.now(), isActive: true, cursor };
  if (target.view) return report(target.view, { tell: { context: { files: [focused], isTrusted: null } } });
  const { url, token } = target.focus;
  const headers = { ...JSON_TYPE, authorization: `Bearer ${token}` };
  const body = JSON.stringify(focused);
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${target.name} refused a context: ${response.status}`);
}

/** Reports something as an editor does; settles once the socket has room for more. */
async function report(view, message) {
  if (!view.connection.write(`${JSON.stringify(message)}\n`)) await once(view.connection, 'drain');
}

/** Attaches as one more editor. */
async function attach(view) {
  view.connection = connect(view.socket);
  view.connection.resume();
  await once(view.connection, 'connect');
  view.connection.write(`${view.attach}\n`);
}

/** Settles when every session of the target was told of the line; fails after ten seconds. */
function everySessionAt(target, line) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${target.name} did not send line ${line}`)), 10_000);
    target.heard = () => {
      if (!target.sessions.every((session) => session.line === line)) return;
      clearTimeout(late);
      target.heard = undefined;
      resolve();
    };
    target.heard();
  });
}

/** The targets in a random order: what one leaves to do hits each of the others as often. */
function shuffled(list) {
  const order = [...list];
  for (let end = order.length - 1; end > 0; end -= 1) {
    const at = Math.floor(Math.random() * (end + 1));
    [order[at], order[end]] = [order[end], order[at]];
  }
  return order;
}

const commands = {
  async start(command) {
    ({ targets, texts, file } = command);
    for (const target of targets) {
      target.sessions = [];
      if (target.view) await attach(target.view);
    }
  },
  async sessions({ count }) {
    for (const { sessions } of targets) {
      for (const session of sessions.splice(count)) session.close();
    }
    for (const target of targets) {
      while (target.sessions.length < count) target.sessions.push(await Session.open(target));
    }
  },
  async diffs({ names, size, rounds }) {
    const newContent = texts[size];
    const group = targets.filter(({ name }) => names.includes(name));
    const took = Object.fromEntries(names.map((name) => [name, { open: [], close: [] }]));
    for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
      for (const target of shuffled(group)) {
        const times = await openAndClose(target, size, newContent, round === 0);
        if (round < 0) continue;
        took[target.name].open.push(times.open);
        took[target.name].close.push(times.close);
      }
    }
    return took;
  },
  async decisions({ size, rounds }) {
    const newContent = texts[size];
    const ways = [];
    const sockets = [];
    for (const target of targets) {
      ways.push({ name: `${target.name}/http`, propose: (isChecked) => propose(target, size, newContent, isChecked) });
      const socket = await Socket.open(target, size);
      sockets.push(socket);
      ways.push({ name: `${target.name}/websocket`, propose: (isChecked) => socket.propose(newContent, isChecked) });
    }
    const took = Object.fromEntries(ways.map(({ name }) => [name, []]));
    for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
      for (const way of shuffled(ways)) {
        const time = await way.propose(round === 0);
        if (round >= 0) took[way.name].push(time);
      }
    }
    for (const socket of sockets) socket.close();
    return took;
  },
  async context({ rounds }) {
    const able = targets.filter((target) => !target.silent);
    const took = Object.fromEntries(able.map(({ name }) => [name, []]));
    for (let round = -2; round < rounds; round += 1) {
      for (const target of shuffled(able)) {
        const line = ++lastLine;
        const start = performance.now();
        const all = everySessionAt(target, line);
        await focus(target, line);
        await all;
        if (round >= 0) took[target.name].push(performance.now() - start);
      }
    }
    return took;
  },
  async burst({ name, changes }) {
    const target = targets.find((target) => target.name === name);
    const [session] = target.sessions;
    const before = session.updates;
    const start = performance.now();
    for (let left = changes; left > 0; left -= 1) await focus(target, ++lastLine);
    const ms = performance.now() - start;
    if (!target.silent) await everySessionAt(target, lastLine);
    return { received: session.updates - before, ms };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = await commands[command.do](command);
  process.stdout.write(`${JSON.stringify(answer ?? {})}\n`);
}
process.exit(0);
