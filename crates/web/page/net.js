// What goes to the server and comes from it. All state is there; a tab has a name that it makes up for itself.

/** @typedef {import("./wire.js").Diff} Diff */

export const tab = crypto.randomUUID();

/** Where the name is kept while the page is loaded again. A tab that is duplicated has none of it, so that two never are one. */
const FORMER = "pillion tab";

/** The name of this tab before the page was loaded again: what it has seen is seen. */
const former = sessionStorage.getItem(FORMER) ?? "";
addEventListener("pagehide", () => sessionStorage.setItem(FORMER, tab));
addEventListener("pageshow", () => sessionStorage.removeItem(FORMER));

/** Where the key is kept that goes with the cookie: cookies are sent to every port of a host, and this is this page's only. */
const KEY = "pillion key";

const headers = () => ({ "Content-Type": "application/json", "X-Pillion-Tab": tab, "X-Pillion-Key": localStorage.getItem(KEY) ?? "" });

/** The pause before the connection is tried again. */
const PAUSE_MS = 1000;

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
  const answer = await fetch(path, { ...more, headers: headers() }).catch(() => {
    throw new Refused(0, { code: "lost", message: "Pillion does not answer: it has ended, or the connection is lost. Nothing is decided." });
  });
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
 * @param {boolean} [isLast] it is sent even if the page is gone meanwhile
 */
export const post = (path, body = {}, isLast = false) => ask(path, { method: "POST", body: JSON.stringify(body), keepalive: isLast });

/** Gives the token of the address for a cookie and a key, and takes it out of the address. */
export async function enter() {
  // An address that is pasted into this tab loads nothing by itself.
  addEventListener("hashchange", () => location.hash && location.reload());
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", "/");
  const { key } = await post("/session", { token });
  localStorage.setItem(KEY, key);
}

/**
 * Hears what the server says until it ends, or lets nobody in. An EventSource would send no key.
 * @param {Record<string, (data: any) => void>} hear
 * @param {(isThere: boolean, why?: string) => void} linked
 */
export async function listen(hear, linked) {
  for (;;) {
    try {
      const answer = await fetch(`/events?tab=${tab}&former=${former}`, { headers: headers() });
      if (!answer.ok || !answer.body) {
        const { message } = await answer.json().catch(() => ({}));
        hear.notice({ text: message ?? `Pillion answers with HTTP ${answer.status}.`, tone: "warning", id: null });
        return linked(false, "not let in: load the page again");
      }
      linked(true);
      if (await follow(answer.body, hear)) return;
    } catch {
      // The connection is lost.
    }
    linked(false);
    await new Promise((go) => setTimeout(go, PAUSE_MS));
  }
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {Record<string, (data: any) => void>} hear
 * @returns {Promise<boolean>} true if the server has said that nothing more comes
 */
async function follow(body, hear) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, name, data] = event.match(/^event: (\w+)\ndata: ([^]*)$/) ?? [];
      try {
        if (data) hear[name]?.(JSON.parse(data));
      } catch (why) {
        // It is the page's own, and no reason to connect again.
        reportError(why);
      }
      if (name === "end") return true;
    }
  }
}
