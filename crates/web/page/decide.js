// A decision, with how the person came to it: the server rules about that.

import { post } from "./net.js";

/** When a decision was typed last, and the pauses before each since the last one that was sent. @type {number | null} */
let typedAt = null;
/** @type {number[]} */
let pauses = [];
let isAsking = false;

/** Notes that a decision was typed: what comes while an answer is awaited shows that a key is held down. */
export function note() {
  const now = performance.now();
  if (typedAt !== null) pauses.push(Math.floor(now - typedAt));
  typedAt = now;
}

/**
 * Sends a decision, if none is under way.
 * @param {import("./wire.js").Diff} diff
 * @param {"accept" | "reject"} decision
 * @param {Event} event
 * @param {{ g: number, drawnMs: number | null, reason?: string, answers?: boolean }} how
 * @returns {Promise<import("./wire.js").Ruled | null>}
 */
export async function decideOn(diff, decision, event, how) {
  if (isAsking) return null;
  isAsking = true;
  const isTyped = event.isTrusted && !(event instanceof KeyboardEvent && event.repeat);
  const seen = { drawnMs: how.drawnMs, typed: isTyped, pausesMs: pauses, answers: how.answers ?? false };
  pauses = [];
  try {
    return await post(`/diffs/${diff.id}/decide`, { g: how.g, revision: diff.revision, decision, reason: how.reason ?? "", seen });
  } finally {
    isAsking = false;
  }
}
