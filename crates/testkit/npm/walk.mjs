// What the companion clients of real agents take for their editor's process.
//
//   node walk.mjs FOLDER_OF_A_PACKAGE…
//
// Out: {"pid":N,"found":[N,…]}, and then it waits for the end of its input.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const found = [];
for (const folder of process.argv.slice(2)) {
  const file = path.join(folder, 'dist/src/ide/process-utils.js');
  const { getIdeProcessInfo } = await import(pathToFileURL(file).href);
  found.push((await getIdeProcessInfo()).pid);
}
process.stdout.write(JSON.stringify({ pid: process.pid, found }) + '\n');
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
