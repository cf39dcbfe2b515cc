// What a person types: reasons, notes, texts. The program has it from the first letter on, until it is sent.

import { button, el } from "./dom.js";
import { keyOf } from "./keys.js";

/**
 * The field that is open, the diff that it is of, if it is not of a row of the list, the words that are in it, if they are others than at first, and what has the program know
 * all of them. `last` does that in the last moment of a page, where it can.
 * @type {{ now: {
 *   diff: number | null, made: HTMLElement, typed: () => string, leave: () => void, told: () => Promise<void>, last: () => boolean,
 * } | null }}
 */
export const field = { now: null };

/** A text that is longer is told to the program from time to time only. */
const LONG = 100_000;

/** The most that browsers send of a page that is gone, in bytes, with some room for what stands around the words. */
const MOST_AT_LAST = 60_000;

// What was typed in the last moment before a reload is the person's as well.
addEventListener("pagehide", () => field.now?.last());
addEventListener("beforeunload", (event) => {
  if (field.now && !field.now.last()) event.preventDefault();
});

/**
 * Tells the program the words of a field, one text after the other, and the last one always.
 * @param {HTMLTextAreaElement} area
 * @param {(text: string, isLast: boolean) => Promise<{ hidden?: string | null }>} tell
 * @param {(hidden: string | null | undefined) => void} name
 */
function teller(area, tell, name) {
  let known = area.value;
  /** @type {Promise<void> | null} */
  let telling = null;
  const all = async () => {
    while (area.value !== known) {
      if (area.value.length > LONG) await new Promise((go) => setTimeout(go, 500));
      const text = area.value;
      const { hidden } = await tell(text, false);
      known = text;
      name(hidden);
    }
  };
  return {
    // What does not arrive is told again with the next letter, or once the connection is there again.
    told: () => telling ??= all().catch(() => {}).finally(() => {
      telling = null;
    }),
    last: () => {
      if (area.value === known) return true;
      if (new Blob([area.value]).size > MOST_AT_LAST) return false;
      tell(area.value, true).catch(() => {});
      return true;
    },
  };
}

/**
 * The repeats of the key that has opened something to type in are no letters of it.
 * @param {HTMLElement} made
 */
function dropRepeats(made) {
  let isHeld = true;
  made.addEventListener("keydown", (event) => {
    isHeld &&= event.repeat;
    if (isHeld) event.preventDefault();
  }, { capture: true });
}

/**
 * A place to type: Ctrl+Enter does what the first button does, Esc leaves and keeps the words. What cannot be seen among them is
 * named below, before they can be sent.
 * @param {{
 *   diff: number | null, label: string, text: string, typed?: string | null, word: string, isText?: boolean, isRefusal?: boolean,
 *   class?: string, title?: string, send: (text: string, event: Event) => Promise<boolean>, leave: () => void,
 *   tell: (text: string, isLast: boolean) => Promise<{ hidden?: string | null }>, hidden?: string | null, left?: (text: string) => void,
 *   more?: { word: string, act: (area: HTMLTextAreaElement) => void }[],
 * }} how
 */
export function writing(how) {
  field.now?.leave();
  const area = el("textarea", { "aria-label": how.label, class: how.isText ? "text" : undefined, spellcheck: how.isText ? "false" : undefined });
  area.value = how.typed ?? how.text;
  if (how.isText) area.rows = Math.min(24, area.value.split("\n").length + 1);
  const hidden = el("p", { class: "remark", role: "status" });
  /** @param {string | null | undefined} what */
  const name = (what) => {
    hidden.hidden = !what;
    hidden.textContent = what ?? "";
  };
  name(how.hidden);
  const { told, last } = teller(area, how.tell, name);
  let isOther = false;
  area.addEventListener("input", () => {
    isOther = true;
    told();
  });
  const leave = () => {
    if (field.now?.made === made) field.now = null;
    how.leave();
    if (isOther) told().then(() => how.left?.(area.value));
  };
  /** @param {Event} event */
  const send = async (event) => {
    go.disabled = true;
    const known = hidden.textContent;
    await told();
    // What is named only now is to be looked at first.
    const isDone = await (hidden.hidden || hidden.textContent === known ? how.send(area.value, event) : Promise.resolve(false)).finally(() => {
      go.disabled = false;
    });
    isOther &&= !isDone;
    if (isDone && area.isConnected) leave();
    else if (!area.isConnected && field.now?.made === made) field.now = null;
  };
  const go = button(how.word, send, { class: how.isRefusal ? "reject" : "accept", key: "Ctrl+↵" });
  const made = el("div", { class: how.class ?? "writing", role: "group", "aria-label": how.label },
    how.title && el("h2", {}, how.title),
    area, hidden,
    el("div", { class: "buttons" }, go, button(how.left ? "Leave" : "Cancel", leave, { key: "Esc" }),
      ...(how.more ?? []).map(({ word, act }) => button(word, () => act(area), { class: "plain" }))));
  dropRepeats(made);
  made.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      leave();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.isTrusted && !event.repeat) {
      event.preventDefault();
      send(event);
    }
  });
  field.now = { diff: how.diff, made, leave, told, last, typed: () => (area.value === how.text ? "" : area.value) };
  return { made, area };
}

/**
 * The diff on which something is being typed is gone: no letter more means anything, and the words are there to be copied.
 * @param {string} why
 */
export function endField(why) {
  const { made, typed } = field.now ?? {};
  field.now = null;
  /** @type {HTMLDialogElement | null | undefined} */ (made?.closest("dialog"))?.close();
  const text = typed?.();
  if (!text) return;
  const area = el("textarea", { readonly: true, "aria-label": "What you had typed", rows: Math.min(16, text.split("\n").length + 1) });
  area.value = text;
  const box = dialog(why, el("p", {}, "You had not sent this:"), el("div", { class: "dialog-form" }, area),
    el("div", { class: "buttons" }, button("Close", () => box.close(), { key: "Esc" })));
}

/**
 * A dialog with these contents, which is gone once it is closed.
 * @param {string} title
 * @param {...(Node | string | null | false | undefined)} contents
 */
export function dialog(title, ...contents) {
  const back = /** @type {HTMLElement | null} */ (document.activeElement);
  const made = el("dialog", { "aria-label": title || undefined, tabindex: -1, onclose: () => {
    made.remove();
    // The browser gives the keyboard back to what had it, but not to what was drawn in its place; and it may be somewhere else by now.
    if (document.activeElement !== document.body) return;
    const again = document.querySelector(`[data-key="${back?.dataset.key}"]`);
    /** @type {HTMLElement | null} */ (again)?.focus({ preventScroll: true });
  } }, title && el("h2", {}, title), ...contents);
  document.body.append(made);
  made.showModal();
  made.focus();
  made.scrollTop = 0;
  return made;
}

/**
 * Asks for one line.
 * @param {string} label
 * @param {string} text
 * @param {(text: string) => void} use
 */
export function askLine(label, text, use) {
  const input = el("input", { type: "text", "aria-label": label, autocomplete: "off", spellcheck: "false" });
  input.value = text;
  const form = el("form", { method: "dialog", onsubmit: () => input.value && use(input.value) }, input);
  dropRepeats(dialog(label, form));
  input.select();
}

/**
 * All keys that the page has, in the groups of the terminal's help.
 * @param {{ keys: string[], help: string }[][]} groups
 */
export function showHelp(groups) {
  /** @type {HTMLDialogElement} */
  const made = dialog("Keys",
    ...groups.filter((rows) => rows.length).flatMap((rows) => [
      el("dl", { class: "keys" }, ...rows.flatMap(({ keys, help }) => [
        el("dt", {}, ...keys.map((key) => el("kbd", {}, key))), el("dd", {}, help),
      ])), el("hr")]),
    el("p", { class: "quiet" }, "In the list, A is a new file, D a deleted and M a changed one; ✓ says that you have seen all of it, ! that the file on disk is another one, ✗ that hunks are excluded, ✎ that you have edited or noted something. What cannot be seen, such as ⟨U+202E⟩, stands in a dotted box; ↕ is a line that was moved."),
    el("p", { class: "quiet" }, "Click a line's number to note something on it, or drag over several. Esc goes from the rows to the buttons. Keys with Ctrl, Alt or Meta are the browser's."),
    el("div", { class: "buttons" }, button("Close", () => made.close(), { key: keyOf("help") })));
  made.addEventListener("keydown", (event) => {
    if (event.key === keyOf("help") || event.key === "q") made.close();
  });
}
