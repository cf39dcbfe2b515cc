// Asks Gemini CLI's own `detectIde`, for tests: `node detect-ide.mjs CORE_FOLDER`. One line of JSON
// `{variables, command}` comes in for each question; one line with its answer, or null, goes out.
// The first line out is the list of all that it knows.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const file = path.join(process.argv[2], 'dist/src/ide/detect-ide.js');
const { IDE_DEFINITIONS, detectIde } = await import(pathToFileURL(file));

console.log(JSON.stringify(Object.values(IDE_DEFINITIONS)));
const own = new Set(Object.keys(process.env));
for await (const line of createInterface({ input: process.stdin })) {
  const { variables, command } = JSON.parse(line);
  for (const name of Object.keys(process.env)) {
    if (!own.has(name)) delete process.env[name];
  }
  Object.assign(process.env, variables);
  console.log(JSON.stringify(detectIde({ pid: 10, command }) ?? null));
}
