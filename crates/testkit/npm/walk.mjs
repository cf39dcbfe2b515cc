// What the companion clients of real agents take for their editor's process.
//
//   node walk.mjs FOLDER_OF_A_PACKAGE…
//
// Out: {"pid":N,"found":[N,…]}, and then it waits for the end of its input.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { loadQwen } from './qwen-client.mjs';

async function idePid(folder) {
  const qwen = await loadQwen(folder);
  if (qwen) return (await qwen.IdeClient.getInstance()).ideProcessInfo.pid;
  const file = path.join(folder, 'dist/src/ide/process-utils.js');
  const { getIdeProcessInfo } = await import(pathToFileURL(file).href);
  return (await getIdeProcessInfo()).pid;
}

const found = [];
for (const folder of process.argv.slice(2)) found.push(await idePid(folder));
process.stdout.write(JSON.stringify({ pid: process.pid, found }) + '\n');
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
