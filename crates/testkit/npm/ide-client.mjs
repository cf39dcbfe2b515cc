// The real client of Gemini CLI's library, driven over stdin and stdout: one JSON object per line.
//
//   node ide-client.mjs FOLDER_OF_THE_PACKAGE
//
// In:  {"do":"connect"} | {"do":"open","diff":N,"path":P,"text":T}
//      {"do":"close","call":N,"path":P,"quiet":B} | {"do":"resolve","call":N,"path":P,"accepted":B}
//      {"do":"disconnect"}
// Out: {"is":"status","status":S,"details":D} | {"is":"outcome","diff":N,"outcome":O,"text":T}
//      {"is":"closed","call":N,"text":T} | {"is":"context","context":C}
//
// Lines are split at the byte 0x0A alone: Node's own line reader also splits at a lone CR and at
// U+2028, which may stand in a text.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = path.join(process.argv[2], 'dist/src/ide');
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);

// The library logs through the console; stdout is ours.
for (const method of ['log', 'info', 'debug', 'warn', 'error']) console[method] = () => {};
// A refused openDiff also rejects a promise that the library lets go of.
process.on('unhandledRejection', () => {});

const tell = (message) => process.stdout.write(JSON.stringify(message) + '\n');

const { IdeClient } = await load('ide-client.js');
const { ideContextStore } = await load('ideContext.js');
const client = await IdeClient.getInstance();
ideContextStore.subscribe((context) => tell({ is: 'context', context: context ?? null }));
client.addStatusChangeListener(({ status, details }) => tell({ is: 'status', status, details: details ?? null }));

const handlers = {
  async connect() {
    await client.connect({ logToConsole: false });
    const { status, details } = client.getConnectionStatus();
    tell({ is: 'connected', status, details: details ?? null, diffing: client.isDiffingEnabled() });
  },
  async open({ diff, path: file, text }) {
    try {
      const result = await client.openDiff(file, text);
      tell({ is: 'outcome', diff, outcome: result.status, text: result.content ?? null });
    } catch (error) {
      tell({ is: 'outcome', diff, outcome: 'failed', text: String(error?.message ?? error) });
    }
  },
  async close({ call, path: file, quiet }) {
    const text = await client.closeDiff(file, { suppressNotification: quiet });
    tell({ is: 'closed', call, text: text ?? null });
  },
  async resolve({ call, path: file, accepted }) {
    await client.resolveDiffFromCli(file, accepted ? 'accepted' : 'rejected');
    tell({ is: 'closed', call, text: null });
  },
  async disconnect() {
    await client.disconnect();
  },
};

let pieces = [];
process.stdin.on('data', (chunk) => {
  for (let end; (end = chunk.indexOf(0x0a)) >= 0; chunk = chunk.subarray(end + 1)) {
    pieces.push(chunk.subarray(0, end));
    const message = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    pieces = [];
    handlers[message.do](message);
  }
  pieces.push(chunk);
});
process.stdin.on('end', () => process.exit(0));
