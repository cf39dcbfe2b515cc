// What a person types: reasons, notes, texts. It is kept in this browser until it is sent, whatever becomes of the diff.

import { button, el } from "./dom.js";
import { keyOf } from "./keys.js";

/** @param {string} key */
export const kept = (key) => localStorage.getItem(`pillion ${key}`) ?? "";

/**
 * @param {string} key
 * @param {string} text
 */
export function keep(key, text) {
  if (text) localStorage.setItem(`pillion ${key}`, text);
  else localStorage.removeItem(`pillion ${key}`);
}

/**
 * A place to type: Ctrl+Enter does what the first button does, Esc leaves and keeps the words.
 * @param {{
 *   label: string, text: string, key: string, word: string, isText?: boolean, isRefusal?: boolean, class?: string, title?: string,
 *   send: (text: string, event: Event) => Promise<boolean>, leave: () => void, typed?: (text: string) => void,
 *   more?: { word: string, act: (area: HTMLTextAreaElement) => void }[],
 * }} how
 */
export function writing(how) {
  const area = el("textarea", { "aria-label": how.label, class: how.isText ? "text" : undefined, spellcheck: how.isText ? "false" : undefined });
  const before = kept(how.key);
  area.value = before || how.text;
  if (how.isText) area.rows = Math.min(24, area.value.split("\n").length + 1);
  area.addEventListener("input", () => {
    keep(how.key, area.value === how.text ? "" : area.value);
    how.typed?.(area.value);
  });
  /** @param {Event} event */
  const send = async (event) => {
    go.disabled = true;
    const isDone = await how.send(area.value, event).finally(() => {
      go.disabled = false;
    });
    if (isDone) keep(how.key, "");
  };
  const go = button(how.word, send, { class: how.isRefusal ? "reject" : "accept", key: "Ctrl+↵" });
  const made = el("div", { class: how.class ?? "writing", role: "group", "aria-label": how.label },
    how.title && el("h2", {}, how.title),
    area,
    el("div", { class: "buttons" }, go, button("Cancel", how.leave, { key: "Esc" }),
      ...(how.more ?? []).map(({ word, act }) => button(word, () => act(area), { class: "plain" }))));
  made.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      how.leave();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.isTrusted && !event.repeat) {
      event.preventDefault();
      send(event);
    }
  });
  return { made, area };
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
    back?.focus({ preventScroll: true });
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
  dialog(label, form);
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
    el("p", { class: "quiet" }, "Click a line's number to note something on it, or drag over several. Esc goes from the rows to the buttons. Keys with Ctrl, Alt or Meta are the browser's."),
    el("div", { class: "buttons" }, button("Close", () => made.close(), { key: keyOf("help") })));
  made.addEventListener("keydown", (event) => {
    if (event.key === keyOf("help") || event.key === "q") made.close();
  });
}
