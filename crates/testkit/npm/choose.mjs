// The companion client of a real agent, asked which companion it takes, over stdin and stdout: one
// JSON object per line. Nothing is dialled: each attempt is written down and fails.
//
//   node choose.mjs FOLDER_OF_THE_PACKAGE
//
// In:  {"env":{…},"cwd":C,"inContainer":B}
// Out: {"idePid":N,"ide":I,"config":C,"dials":[{"host":H,"port":N,"token":T}],"details":D,"error":E}
//
// Its PATH should lead to a `ps` of the test's own: that decides what the client takes for its
// editor. First line out: {"pid":N}, the process id of this Node.
import dns from 'node:dns';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

import { loadQwen } from './qwen-client.mjs';

const folder = process.argv[2];
const load = (file) => import(pathToFileURL(file).href);
for (const method of ['log', 'info', 'debug', 'warn', 'error']) console[method] = () => {};

// What marks a container is the situation's to say, not this machine's.
const MARKS = ['/.dockerenv', '/run/.containerenv'];
let inContainer = false;
const existsSync = fs.existsSync;
fs.existsSync = (file) => (MARKS.includes(file) ? inContainer : existsSync(file));
// Qwen Code asks for the container host's address, once, and dials it only if there is one.
dns.lookup = (name, done) => done(null, '127.0.0.1', 4);
syncBuiltinESMExports();

let dials = [];
const note = (url, authorization) => {
  const token = authorization?.replace(/^Bearer /, '') ?? null;
  dials.push({ host: url.hostname, port: Number(url.port || 80), token });
};

// What a client would dial is in its transport.
function notingTransports(Client) {
  Client.prototype.connect = async (transport) => {
    note(transport._url, transport._requestInit?.headers?.Authorization);
    throw new Error('not dialled');
  };
}

// Gemini CLI: its library is in files.
async function gemini() {
  const require = createRequire(path.join(folder, 'package.json'));
  const sdk = require.resolve('@modelcontextprotocol/sdk/client/index.js');
  const { Client } = await load(sdk.replace(`${path.sep}cjs${path.sep}`, `${path.sep}esm${path.sep}`));
  notingTransports(Client);
  const ide = path.join(folder, 'dist/src/ide');
  const { IdeClient } = await load(path.join(ide, 'ide-client.js'));
  const utils = path.join(ide, 'ide-connection-utils.js');
  const { getConnectionConfigFromFile } = existsSync(utils) ? await load(utils) : {};
  const configOf = (client) =>
    getConnectionConfigFromFile
      ? getConnectionConfigFromFile(client.ideProcessInfo.pid)
      : client.getConnectionConfigFromFile();
  return { IdeClient, configOf };
}

function qwen({ Client, IdeClient }) {
  if (Client) notingTransports(Client);
  IdeClient.prototype.tryHttpConnect = async function (port, host) {
    let url;
    try {
      url = new URL(`http://${host}:${port}/mcp`);
    } catch {
      return false;
    }
    note(url, this.authToken ? `Bearer ${this.authToken}` : undefined);
    return false;
  };
  return { IdeClient, configOf: (client) => client.getConnectionConfigFromFile() };
}

const bundle = await loadQwen(folder);
const { IdeClient, configOf } = bundle ? qwen(bundle) : await gemini();

async function choose({ env, cwd, inContainer: marked }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  inContainer = marked;
  dials = [];
  const told = { dials, ide: null, config: null, details: null, error: null };
  try {
    IdeClient.instancePromise = null;
    const client = await IdeClient.getInstance();
    told.idePid = client.ideProcessInfo.pid;
    told.ide = client.currentIde ?? null;
    told.config = (await configOf(client)) ?? null;
    client.setState = (_, details) => (told.details = details ?? null);
    await client.connect({ logToConsole: false });
  } catch (error) {
    told.error = String(error);
  }
  return told;
}

const tell = (message) => process.stdout.write(JSON.stringify(message) + '\n');
tell({ pid: process.pid });
for await (const line of readline.createInterface({ input: process.stdin })) {
  tell(await choose(JSON.parse(line)));
}
process.exit(0);
