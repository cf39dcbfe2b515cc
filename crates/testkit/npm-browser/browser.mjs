// A browser of the person's, driven over stdin and stdout: one JSON object per line, and each is answered.
//
//   node browser.mjs FOLDER_OF_THE_PACKAGES FOLDER_OF_THE_PROFILE headless|screen MILLISECONDS
//
// In:  {"id":N,"do":NAME,"tab":N,…}: a name of `actions`, with what it takes
// Out: "started" once, then {"id":N,"value":V} or {"id":N,"error":E,"page":TEXT}
//
// Chromium is started here, and Playwright only connects to it: so it leaves focus and visibility of tabs as they are.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [packages, profile, place, limit] = process.argv.slice(2);
const SOON = Number(limit);
const SIZE = { width: 1400, height: 900 };

const { chromium } = await import(pathToFileURL(path.join(packages, 'playwright-core/index.mjs')).href);
const axe = fs.readFileSync(path.join(packages, 'axe-core/axe.min.js'), 'utf8');

const tell = (message) => process.stdout.write(JSON.stringify(message) + '\n');

/** Waits until `state` is something that counts as true, and returns it. */
async function until(what, state) {
  const started = Date.now();
  for (;;) {
    const value = await state();
    if (value) return value;
    if (Date.now() - started > SOON) throw new Error(`expected ${what}`);
    await sleep(Math.min(250, 20 + (Date.now() - started) / 10));
  }
}

/** A program that ends with this one. */
function start(program, args, stdio, env) {
  const child = spawn(program, args, { stdio, env: { ...process.env, ...env } });
  child.on('error', (error) => fail(`${program}: ${error.message}`));
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/** Says so instead of an answer, and ends: a test that waits reads it. */
function fail(error) {
  tell({ failed: String(error) });
  process.exit(1);
}

process.on('uncaughtException', (error) => fail(error.stack));
process.on('unhandledRejection', (error) => fail(error?.stack ?? error));

/** The name of a new display that nobody looks at. */
async function display() {
  const screen = `${SIZE.width}x${SIZE.height}x24`;
  const xvfb = start('Xvfb', ['-displayfd', '3', '-screen', '0', screen, '-nolisten', 'tcp'], ['ignore', 'ignore', 'ignore', 'pipe']);
  let number = '';
  xvfb.stdio[3].on('data', (data) => (number += data));
  await until('a display', () => number.endsWith('\n'));
  return `:${number.trim()}`;
}

const shown = place === 'screen' ? { DISPLAY: await display() } : {};
const options = [
  ...(place === 'screen' ? [] : ['--headless=new']),
  // In containers it has no rights for a sandbox of its own, and little shared memory.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--password-store=basic',
  '--force-color-profile=srgb',
  `--window-size=${SIZE.width},${SIZE.height}`,
  '--window-position=0,0',
  '--remote-debugging-port=0',
  `--user-data-dir=${profile}`,
  'about:blank',
];
const program = start('chromium', options, 'ignore', shown);
program.on('exit', (code) => fail(`chromium ended (${code})`));
const port = await until('a chromium that listens', () => {
  const file = path.join(profile, 'DevToolsActivePort');
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8').split('\n')[1] && fs.readFileSync(file, 'utf8');
});
const [number, address] = port.split('\n');
const browser = await chromium.connectOverCDP(`ws://127.0.0.1:${number}${address}`, { noDefaults: true, timeout: SOON });
const context = browser.contexts()[0];
context.setDefaultTimeout(SOON);
let first = await until('a first tab', () => context.pages()[0]);

/** By their numbers: the page, a connection to it, and what went wrong there. */
const tabs = new Map();

/** Evaluates what the page's own rules may forbid to pages. */
async function evaluate({ session }, expression) {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value ?? null;
}

const actions = {
  async open({ url, isFocused }) {
    const page = first ?? (await context.newPage());
    first = undefined;
    const tab = { page, session: await context.newCDPSession(page), problems: [] };
    page.on('console', (it) => it.type() === 'error' && tab.problems.push(`${it.text()} (${it.location().url})`));
    page.on('pageerror', (error) => tab.problems.push(error.stack ?? String(error)));
    page.on('crash', () => tab.problems.push('the page crashed'));
    tabs.set(tabs.size, tab);
    if (isFocused) await tab.session.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await page.goto(url);
    return tabs.size - 1;
  },
  goto: ({ page }, { url }) => page.goto(url).then(() => null),
  reload: ({ page }) => page.reload().then(() => null),
  close: ({ page }) => page.close(),
  front: ({ page }) => page.bringToFront(),
  resize: ({ page }, { width, height }) => page.setViewportSize({ width, height }),
  media: ({ page }, { media }) => page.emulateMedia(media),
  address: ({ page }) => page.url(),
  press: ({ page }, { keys }) => page.keyboard.press(keys),
  async hold({ page }, { key, times }) {
    for (let i = 0; i < times; i++) await page.keyboard.down(key);
    await page.keyboard.up(key);
  },
  type: ({ page }, { text }) => page.keyboard.type(text),
  insert: ({ page }, { text }) => page.keyboard.insertText(text),
  fill: ({ page }, { at, text }) => page.locator(at).fill(text),
  click: ({ page }, { at, how }) => page.locator(at).click(how ?? {}),
  hover: ({ page }, { at }) => page.locator(at).hover(),
  drag: ({ page }, { at, to }) => page.locator(at).dragTo(page.locator(to)),
  wheel: ({ page }, { by }) => page.mouse.wheel(0, by),
  async swipe({ session }, { from, to }) {
    const touch = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
    const [x, y] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
    await touch('touchStart', { x: from[0], y: from[1] });
    await touch('touchMove', { x, y });
    await touch('touchMove', { x: to[0], y: to[1] });
    await touch('touchEnd');
  },
  text: ({ page }, { at }) => page.locator(at).innerText(),
  texts: ({ page }, { at }) => page.locator(at).allInnerTexts(),
  count: ({ page }, { at }) => page.locator(at).count(),
  visible: ({ page }, { at }) => page.locator(at).first().waitFor(),
  gone: ({ page }, { at }) => page.locator(at).first().waitFor({ state: 'hidden' }),
  contains: ({ page }, { at, text }) => page.locator(at).filter({ hasText: text }).first().waitFor(),
  evaluate: (tab, { expression }) => evaluate(tab, expression),
  // By itself, and not by Playwright's way: that one stands still in a hidden tab, and evaluates in the page.
  wait: (tab, { expression }) => until(expression, () => evaluate(tab, expression).catch(() => null)),
  async screenshot({ page }, { file }) {
    await page.screenshot({ path: file });
  },
  async axe(tab, { at }) {
    if (!(await evaluate(tab, 'typeof axe === "object"'))) await evaluate(tab, `${axe}; null`);
    const { violations } = await evaluate(tab, `axe.run(${at ? JSON.stringify(at) : 'document'}).then((it) => ({
      violations: it.violations.map(({ id, impact, help, nodes }) => ({
        id, impact, help, nodes: nodes.map((node) => node.target.join(' ') + ': ' + (node.failureSummary ?? '')),
      })),
    }))`);
    return violations;
  },
  async problems({ page, problems }) {
    // What the page said before this is heard by then.
    if (!page.isClosed()) await page.locator('html').count().catch(() => 0);
    return problems.splice(0);
  },
};

/** The address and the text of a tab, for who reads why a test failed. */
async function described(tab) {
  if (!tab || tab.page.isClosed()) return 'no page';
  const text = await evaluate(tab, 'document.body?.innerText').catch((error) => String(error));
  const problems = tab.problems.map((it) => `\n! ${it}`).join('');
  return `${tab.page.url()}\n${String(text).slice(0, 4000)}${problems}`;
}

/** Split at the byte 0x0A alone, as JSON leaves it to writers whether U+2028 is escaped. */
async function* lines(input) {
  let pieces = [];
  for await (let chunk of input) {
    for (let end; (end = chunk.indexOf(0x0a)) >= 0; chunk = chunk.subarray(end + 1)) {
      yield Buffer.concat([...pieces, chunk.subarray(0, end)]).toString('utf8');
      pieces = [];
    }
    pieces.push(chunk);
  }
}

tell('started');
for await (const line of lines(process.stdin)) {
  const message = JSON.parse(line);
  const tab = tabs.get(message.tab);
  try {
    const value = message.do === 'open' ? await actions.open(message) : await actions[message.do](tab, message);
    tell({ id: message.id, value: value ?? null });
  } catch (error) {
    tell({ id: message.id, error: error.message, page: await described(tab) });
  }
}
process.exit(0);
