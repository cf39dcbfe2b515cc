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
 * Puts what is written in the page below another element, with the keyboard, the caret and what an input method is about.
 * @param {HTMLElement} element
 * @param {HTMLElement} above
 */
export function move(element, above) {
  const parent = /** @type {HTMLElement & { moveBefore?: (node: Node, before: Node | null) => void }} */ (above.parentElement);
  if (parent.moveBefore && element.isConnected && parent.isConnected) return parent.moveBefore(element, above.nextSibling);
  const held = element.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
  const { selectionStart: from, selectionEnd: to, scrollTop } = /** @type {HTMLTextAreaElement} */ (held ?? {});
  above.after(element);
  held?.focus({ preventScroll: true });
  if (held instanceof HTMLTextAreaElement) {
    held.setSelectionRange(from, to);
    held.scrollTop = scrollTop;
  }
}

/**
 * Has an element hold these children. What is the same stays untouched, so that no click, no selection and no scrolling is lost by it. What
 * had the keyboard has it still; if it is gone, what stands in its place. What may look the same and does another thing has another `data-key`.
 * @param {HTMLElement} into
 * @param {...(Node | string)} children
 */
export function put(into, ...children) {
  const fresh = into.cloneNode(false);
  /** @type {Element} */ (fresh).append(...children);
  /** @type {() => HTMLElement[]} */
  const keyed = () => [...into.querySelectorAll(/** @type {"button"} */ ("[data-key]"))];
  const held = into.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
  const at = held ? keyed().indexOf(/** @type {HTMLButtonElement} */ (held)) : -1;
  become(into, fresh);
  if (!held || held.isConnected || at < 0) return;
  const left = keyed();
  (left.find((it) => it.dataset.key === held.dataset.key) ?? left[Math.min(at, left.length - 1)])?.focus();
}

/** @param {Node} it */
const keyOfNode = (it) => it.nodeName + (it instanceof HTMLElement ? it.id + (it.dataset.key ?? "") : "");

/**
 * @param {Element} old
 * @param {Node} fresh
 */
function become(old, fresh) {
  const [had, has] = [[...old.childNodes], [...fresh.childNodes]];
  if (had.map(keyOfNode).join() !== has.map(keyOfNode).join()) return old.replaceChildren(...has);
  had.forEach((it, at) => {
    const to = has[at];
    if (it.isEqualNode(to)) return;
    if (!(it instanceof Element && to instanceof Element)) return it.replaceWith(to);
    for (const { name } of [...it.attributes]) if (!to.hasAttribute(name)) it.removeAttribute(name);
    for (const { name, value } of to.attributes) it.setAttribute(name, value);
    become(it, to);
  });
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
 * @param {{ class?: string, key?: string, disabled?: boolean, label?: string, title?: string, data?: Record<string, string> }} [more]
 */
export function button(word, act, more = {}) {
  const { key, label, ...rest } = more;
  /** @param {MouseEvent} event */
  const onclick = (event) => {
    if (event.isTrusted) act(event);
  };
  return el("button", { type: "button", onclick, "aria-label": label, ...rest }, word, key && el("kbd", { "aria-hidden": "true" }, key));
}
