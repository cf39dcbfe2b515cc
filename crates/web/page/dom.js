// Elements, made without markup: text goes in as text, whatever it holds.

/**
 * An element with these properties, listeners (`onclick`) and attributes, and these children; a child that is missing is left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [has]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, has = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(has)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((it) => it || it === 0).map((it) => (typeof it === "number" ? String(it) : /** @type {Node} */ (it))));
  return made;
}

/**
 * The element of the page with this id, which is there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * A button; `key` is shown on it where there is a keyboard. What a script clicks, such as an extension's, does nothing.
 * @param {string} word
 * @param {(event: MouseEvent) => void} act
 * @param {{ class?: string, key?: string, disabled?: boolean, label?: string, title?: string }} [more]
 */
export function button(word, act, more = {}) {
  const { key, label, ...rest } = more;
  /** @param {MouseEvent} event */
  const onclick = (event) => {
    if (event.isTrusted) act(event);
  };
  return el("button", { type: "button", onclick, "aria-label": label, ...rest }, word, key && el("kbd", { "aria-hidden": "true" }, key));
}
