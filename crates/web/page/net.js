// What goes to the server and comes from it. All state is there; a tab has a name that it made up for itself.

/** @typedef {import("./wire.js").Diff} Diff */

export const tab = crypto.randomUUID();

/** What the server refuses, with the sentence that it gives. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {{ code?: string, message?: string, now?: Diff }} why
   */
  constructor(status, why) {
    super(why.message ?? `Pillion answers with HTTP ${status}.`);
    this.status = status;
    this.code = why.code ?? "failed";
    this.now = why.now;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} more
 */
async function ask(path, more) {
  const answer = await fetch(path, { ...more, headers: { "Content-Type": "application/json", "X-Pillion-Tab": tab } }).catch(() => {
    throw new Refused(0, { code: "lost", message: "Pillion does not answer: it has ended, or the connection is lost. Nothing is decided." });
  });
  if (answer.status === 204) return {};
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, said);
  return said;
}

/**
 * @param {string} path
 * @param {Record<string, any>} [query]
 */
export function get(path, query) {
  const words = query ? `?${new URLSearchParams(query)}` : "";
  return ask(path + words, {});
}

/**
 * @param {string} path
 * @param {object} body
 */
export const post = (path, body = {}) => ask(path, { method: "POST", body: JSON.stringify(body) });

/** Gives the token of the address for a cookie, and takes it out of the address. */
export async function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", "/");
  await post("/session", { token });
}

/**
 * Hears what the server says until it ends.
 * @param {Record<string, (data: any) => void>} hear
 * @param {(isThere: boolean) => void} linked
 */
export function listen(hear, linked) {
  const events = new EventSource(`/events?tab=${tab}`);
  events.onopen = () => linked(true);
  events.onerror = () => linked(false);
  for (const [name, act] of Object.entries(hear)) {
    events.addEventListener(name, (event) => {
      act(JSON.parse(event.data));
      if (name === "end") events.close();
    });
  }
}
