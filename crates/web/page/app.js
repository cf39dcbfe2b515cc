// The page: what is there, what the person does with it, and what they are told. Rules and sentences are the server's.

import { decideOn, note as notePause } from "./decide.js";
import { button, byId, el, put } from "./dom.js";
import { commandOf, help, keyOf, useKeys } from "./keys.js";
import { drawLists, moveItem, moveToUnseen, counts } from "./list.js";
import { Refused, enter, get, listen, post, tab } from "./net.js";
import { ranges } from "./seen.js";
import { Sheet } from "./sheet.js";
import { askLine, dialog, endField, field, showHelp, writing } from "./words.js";

/** @typedef {import("./wire.js").Diff} Diff */
/** @typedef {import("./wire.js").Tone} Tone */

const state = {
  /** @type {Diff[]} */
  diffs: [],
  /** @type {number | null} */
  current: null,
  /** @type {import("./wire.js").Turns | null} */
  turns: null,
  /** @type {import("./wire.js").Status | null} */
  status: null,
  /** @type {string | null} */
  version: null,
  /** The numbers of diffs are those of this process. */
  process: 0,
  /** What there is to say of diffs that are not shown. @type {Map<number, import("./wire.js").Notice>} */
  news: new Map(),
  /** @type {string[]} */
  roots: [],
  /** What a question is about, and what yes does. @type {((event: Event) => void) | null} */
  yes: null,
  /** A question is gone that nobody has answered: whose answer comes now means nothing else. */
  isLost: false,
  /** What came while a question was there: it is said once that is gone. @type {[string, Tone][]} */
  later: [],
  /** @type {{ hits: import("./wire.js").Hit[], at: number, more: boolean } | null} */
  found: null,
  /** What is drawn, so that it is drawn again only if it is another. */
  drawn: "",
  /** The change that is to be shown once it is there. @type {string | null} */
  wanted: null,
  /** The change that this tab has kept or taken back last, and what was said of that. @type {{ id: string | null, message: string | null }} */
  acted: { id: null, message: null },
  /** Generated files that the person wants to see. @type {Set<number>} */
  opened: new Set(),
  /** When the list of turns came last: its rows have stood there as they are since then. */
  turnsSince: 0,
  isOver: false,
  /** Something came while the tab was hidden. */
  isNews: false,
  hidesLists: false,
  /**
   * For each decision about what is written that can be undone, the last one last: how much could be undone then in each diff.
   * None until this tab has decided something.
   * @type {Map<number, number>[] | null}
   */
  decided: null,
  /** How often the program was told what is typed. */
  words: 0,
  /** A text is being fetched to be edited: what is typed meanwhile is no command. */
  isOpening: false,
};

const view = byId("view");

/** The way that a finger goes to show another diff, in pixels. */
const SWIPE = 60;

/** What was told of what was seen, until it has arrived. @type {Promise<unknown>} */
let telling = Promise.resolve();
const sheet = new Sheet(view, (diff, g, left, right, drawnMs) => {
  telling = post(`/diffs/${diff}/seen`, { g, left: ranges(left), right: ranges(right), drawnMs }).then((seen) => {
    const known = state.diffs.find((it) => it.id === diff);
    if (known && known.g === g && seen.hunks) {
      known.seen = seen;
      if (diff === state.current) sheet.markSeen(seen.hunks);
      drawSide();
      drawPlace();
    }
  }).catch(() => {});
});

const current = () => state.diffs.find((diff) => diff.id === state.current) ?? null;

/**
 * Says a sentence below, whole. A question gets its answer beside it.
 * @param {string | null | undefined} text
 * @param {Tone} [tone]
 * @param {((event: Event) => void) | null} [yes]
 */
function say(text, tone = "info", yes = null) {
  if (text === null || text === undefined) return;
  state.yes = yes;
  const later = yes ? [] : state.later;
  // A sentence may follow at once on nothing: what waited goes with it.
  if (text && !yes) state.later = [];
  const isWarning = later.some(([, tone]) => tone === "warning") || tone === "warning";
  const message = byId("message");
  message.className = `grow ${yes || isWarning ? "asks" : ""}`;
  message.replaceChildren([text, ...later.map(([text]) => text)].filter(Boolean).join("\n"));
  if (yes) message.append(" ", button("Yes", yes, { key: keyOf("answer") }));
}

/**
 * Says what comes by itself. A question stays as it is until the person has answered it, or does something else.
 * @param {string} text
 * @param {Tone} tone
 */
function tell(text, tone) {
  if (state.yes) state.later.push([text, tone]);
  else say(text, tone);
}

/** @param {unknown} why */
function failed(why) {
  if (!(why instanceof Refused)) throw why;
  if (why.now) change(why.now);
  say(why.message, "warning");
}

/**
 * Does something with the current diff as it is on the screen, and says what came of it.
 * @param {string} what
 * @param {object} [more]
 * @param {number} [g] the generation that it is about, if that was there when the person began
 */
async function act(what, more, g = sheet.g) {
  const diff = current();
  if (!diff || sheet.diff?.id !== diff.id) return false;
  say("");
  try {
    const done = await post(`/diffs/${diff.id}/${what}`, { g, ...more });
    // What was to come may have come before.
    if (!done.message?.endsWith("…") || current()?.g === g) say(done.message, done.tone);
    return true;
  } catch (why) {
    failed(why);
    return false;
  }
}

// What comes from the server

/** @param {Diff} diff */
function change(diff) {
  const at = state.diffs.findIndex((it) => it.id === diff.id);
  if (at < 0) state.diffs.push(diff);
  else state.diffs[at] = diff;
  // What was under way is done.
  if (diff.id === state.current && byId("message").textContent?.endsWith("…") && !diff.isComparing) say("");
  state.isNews ||= at < 0 && document.hidden;
  if (isOf(diff, state.wanted)) return show(diff.id);
  if (state.current === null) return select(diff.id);
  drawSoon();
}

/**
 * Whether a diff shows this change of what is written, or one of this turn.
 * @param {Diff} diff
 * @param {string | null} change
 */
const isOf = (diff, change) => change !== null && (diff.written === change || diff.written?.startsWith(`${change}.`) === true);

/** Shows a diff that the person has asked for: the keys are its own from now on. @param {number} id */
function show(id) {
  state.wanted = null;
  if (byId("message").textContent?.endsWith("…")) say("");
  select(id);
  view.focus();
}

/** @param {number | null} id */
function select(id) {
  turnTo(id);
  draw();
}

/**
 * Another diff is looked at: what stands below is of that one.
 * @param {number | null} id
 */
function turnTo(id) {
  if (state.current === id) return;
  // Words on a row of the list are of no diff.
  if (field.now?.diff !== null) field.now?.leave();
  sheet.form = null;
  document.querySelector(".file-text")?.replaceWith(view);
  const news = state.news.get(id ?? 0);
  if (news) say(news.text, news.tone);
  else if (state.current !== null) say("");
  state.news.delete(id ?? 0);
  state.current = id;
}

/** The answer that was asked for last: an earlier one may come after it. @type {Promise<void>} */
let loading = Promise.resolve();

function loadTurns() {
  /** @type {Promise<void>} */
  const mine = get("/turns").then((turns) => {
    if (mine !== loading) return loading;
    if (JSON.stringify(turns.turns) !== JSON.stringify(state.turns?.turns)) state.turnsSince = performance.now();
    state.turns = turns;
    drawSide();
  });
  loading = mine;
  return mine;
}

const heard = {
  /** @param {import("./wire.js").All} all */
  all(all) {
    if (state.process && state.process !== all.process) {
      if (field.now) endField("Pillion was started anew.");
      else if (state.version !== all.version) location.reload();
    }
    field.now?.told();
    const { version, process, roots, diffs, status } = all;
    useKeys(all.keys);
    Object.assign(state, { version, process, roots, diffs, status });
    if (field.now && field.now.diff !== null && !diffs.some(({ id }) => id === field.now?.diff)) endField("The diff is gone.");
    if (!current()) turnTo(all.diffs[0]?.id ?? null);
    if (all.notices.length) tell(all.notices.join("\n"), "warning");
    drawTop();
    draw();
    loadTurns().catch(failed);
  },
  diff: change,
  /** @param {import("./wire.js").Gone} gone */
  gone(gone) {
    const isHere = state.current === gone.id;
    const own = state.diffs.some((diff) => diff.id === gone.id && isOf(diff, state.acted.id)) ? state.acted : null;
    state.isLost ||= isHere && state.yes !== null && gone.tab !== tab;
    state.diffs = state.diffs.filter((diff) => diff.id !== gone.id);
    state.news.delete(gone.id);
    if (field.now?.diff === gone.id) endField(gone.words);
    if (isHere) select(state.diffs.some((diff) => diff.id === gone.next) ? gone.next : state.diffs[0]?.id ?? null);
    else drawSoon();
    if (own) {
      say(own.message, "good");
      state.acted = { id: null, message: null };
    } else (isHere ? say : tell)(gone.words, gone.tab === tab ? "good" : "warning");
    copy(gone.clipboard);
  },
  /** @param {import("./wire.js").Status} status */
  status(status) {
    const known = state.status?.warnings ?? [];
    const news = status.warnings.filter((it) => !known.includes(it));
    state.status = status;
    if (news.length) {
      // What was to be shown may be what cannot be.
      state.wanted = null;
      tell(news.join("\n"), "warning");
    }
    drawTop();
    if (!current()) draw();
  },
  turns: () => loadTurns().catch(failed),
  /** @param {import("./wire.js").Words & { id: string }} words */
  words({ id, ...words }) {
    if (!state.turns) return;
    state.turns.words[id] = words;
    drawSide();
  },
  /** @param {import("./wire.js").Notice} notice */
  notice(notice) {
    if (notice.id !== null && notice.id !== state.current) {
      state.news.set(notice.id, notice);
      return drawTop();
    }
    // What is asked, or needs care, stays until the person does something.
    if (notice.tone === "warning" || !byId("message").classList.contains("asks")) tell(notice.text, notice.tone);
  },
  /** @param {import("./wire.js").Notice} notice */
  end(notice) {
    state.isOver = true;
    drawTop();
    say(notice.text, notice.tone);
  },
};

/**
 * @param {string | null} text
 * @param {string} [said] what the person is told once it is copied
 */
function copy(text, said) {
  if (text) navigator.clipboard.writeText(text).then(() => said && tell(said, "good"), () => tell("The browser does not let the page copy.", "warning"));
}

// Drawing

function drawTop() {
  const { status, diffs } = state;
  byId("agents").textContent = (status?.agents ?? []).map((name) => (status?.working.includes(name) ? `${name} (working)` : name)).join(", ")
    || "no agent is connected";
  byId("pending").textContent = diffs.length ? `${diffs.length} to review${state.news.size ? `, ${state.news.size} with news` : ""}` : "";
  const mode = byId("mode");
  mode.hidden = !status?.mode;
  mode.textContent = status?.mode ?? "";
  document.title = `${state.isNews ? "● " : ""}${diffs.length ? `(${diffs.length}) ` : ""}Pillion`;
}

/**
 * @param {boolean} isThere
 * @param {string} [why]
 */
function drawLink(isThere, why = "connection lost, trying again") {
  const link = byId("link");
  link.dataset.state = isThere ? "there" : "lost";
  link.textContent = isThere ? "" : state.isOver ? "Pillion has ended" : why;
}

function drawSide() {
  const isEmpty = drawLists(state.diffs, state.current, state.turns);
  byId("side").hidden = isEmpty || state.hidesLists;
}

function drawPlace() {
  const diff = current();
  const seen = diff?.seen.hunks.filter(Boolean).length ?? 0;
  const found = state.found ? `hit ${state.found.at + 1}/${state.found.hits.length}${state.found.more ? "+" : ""} · ` : "";
  byId("place").textContent = diff && diff.hunks.length && sheet.diff?.id === diff.id
    ? `${found}hunk ${sheet.hunkAbove(sheet.cursor) + 1}/${diff.hunks.length} · seen ${seen}/${diff.hunks.length}` : found;
}

/** @param {Diff} diff */
function drawHead(diff) {
  const folder = diff.shown.slice(0, diff.shown.length - diff.name.length);
  const { written } = diff;
  /** @type {(word: string, name: string, more?: object) => HTMLElement} */
  const does = (word, name, more) => button(word, (event) => run(name, event), { key: keyOf(name), data: { key: name }, ...more });
  const main = written
    ? [does("Keep", "accept", { class: "accept" }), button("Take back", () => turn(current()?.written ?? "-", "takeBack"), { class: "reject", data: { key: "takeBack" } }),
      does("Take back with a reason…", "reason"), does("Leave", "reject")]
    : [does("Accept", "accept", { class: "accept" }), does("Reject", "reject", { class: "reject" }), does("Reject with a reason…", "reason")];
  put(byId("head"),
    el("div", { class: "title" },
      el("h2", {}, folder && el("span", { class: "folder" }, folder), diff.name),
      el("span", {}, ...counts(diff.added, diff.removed)),
      diff.set && diff.set.of > 1 && el("span", { class: "quiet" }, `${diff.set.place} of ${diff.set.of}`)),
    el("p", { class: "does" }, `${diff.agent} ${diff.does} ${diff.name}`, diff.written && ` · ${diff.written}`),
    ...[...diff.facts, ...diff.notes].map((fact) => el("p", { class: "remark" }, fact)),
    el("div", { id: "acts" }, ...main, ...others(diff, does), button("More…", menu, { class: "plain", data: { key: "menu" } })));
  byId("head").hidden = false;
  const narrow = { key: undefined };
  put(byId("phone"), does(written ? "Keep" : "Accept", "accept", { class: "accept" }), does(written ? "Take back…" : "Reject…", "reason", { class: "reject", ...narrow }), does("Note", "note", narrow),
    button("⋯", menu, { label: "More", data: { key: "menu" } }));
}

/** A button for a command of the table. @typedef {(word: string, name: string, more?: object) => HTMLElement} Does */

/**
 * The buttons for what is of use with a diff besides deciding it.
 * @param {Diff} diff
 * @param {Does} does
 */
const others = (diff, does) => [
  diff.takesNoEdits ? null : does("Edit file", "edit"), does("Note on file", "note-file"), does("Mention", "mention"),
  diff.canMerge && does("Merge with disk", "merge"),
  diff.undo[0] > 0 && does("Undo", "undo"), diff.undo[1] > 0 && does("Redo", "redo"),
  !diff.isOneSided && does(sheet.layout === "split" ? "Unified" : "Side by side", "layout", { class: "plain" }),
  !diff.isOneSided && does(sheet.arrangement(diff).all ? "Fold" : "Unfold", "unfold", { class: "plain" }),
];

/** What has no button of its own beside the diff, or none on a phone. */
function menu() {
  const diff = current();
  /** @type {Does} */
  const does = (word, name) => button(word, (event) => {
    box.close();
    run(name, event);
  }, { key: keyOf(name) });
  const ofDiff = diff ? [does(diff.written ? "Leave" : "Reject", "reject"), ...others(diff, does), does("Compare", "base")] : [];
  const box = dialog("More", el("div", { class: "buttons" }, ...ofDiff, !diff?.undo[0] && does("Undo", "undo"), does("Stage", "stage")),
    el("div", { class: "buttons" }, does("Accept all seen", "accept-seen"), does("Search", "search"), does("Filter files", "files"),
      does("Your notes", "notes"), does("Send notes", "send-notes"), does("History", "history"), does("When to ask", "mode")),
    el("div", { class: "buttons" }, button("Close", () => box.close(), { key: "Esc" })));
}

function isNarrow() {
  return view.clientWidth < 900;
}

/** What rows there are depends on. @param {Diff} diff */
const keyOfRows = (diff) => JSON.stringify([diff.id, diff.remarks, sheet.query(diff)]);

let isToDraw = false;

/** The rows of the current diff, on their way. @type {Promise<void>} */
let shown = Promise.resolve();

/** Draws with the next frame, once for all that has come by then: a hundred files may come at once. */
function drawSoon() {
  drawTop();
  if (isToDraw) return;
  isToDraw = true;
  requestAnimationFrame(() => {
    isToDraw = false;
    draw();
  });
}

/** Draws what is another since it was drawn last. */
function draw() {
  drawTop();
  drawSide();
  const diff = current();
  if (!state.version) return;
  if (!diff) {
    sheet.clear();
    state.drawn = "";
    byId("head").hidden = true;
    byId("phone").replaceChildren();
    const { status } = state;
    put(view, el("div", { class: "empty" }, el("strong", {}, "Nothing to review right now"),
      [...(status?.waiting ?? []), ...(status?.asking ?? []), ...(status?.warnings ?? []), status?.decided].filter(Boolean).join("\n")
        || "What agents propose in this folder is shown here before it is written."));
    drawPlace();
    return;
  }
  sheet.layout = isNarrow() || diff.isOneSided || localStorage.getItem("pillion layout") === "unified" ? "unified" : "split";
  drawHead(diff);
  drawPlace();
  const drawn = keyOfRows(diff);
  if (diff.isComparing || drawn === state.drawn) return;
  if (diff.isGenerated && !state.opened.has(diff.id)) {
    sheet.clear();
    state.drawn = "";
    put(view, el("div", { class: "empty" }, el("strong", {}, "A generated file"),
      `${diff.name} changes in ${diff.hunks.length === 1 ? "1 hunk" : `${diff.hunks.length} hunks`}.`,
      el("div", { class: "buttons" }, button("Show it", () => {
        state.opened.add(diff.id);
        draw();
      }, { data: { key: `show${diff.id}` } }))));
    return;
  }
  state.drawn = drawn;
  shown = sheet.show(diff).then(drawPlace).catch((why) => {
    if (state.drawn === drawn) state.drawn = "";
    if (!(why instanceof Refused && [404, 409].includes(why.status))) return failed(why);
    // Nobody has asked for these rows: there is nothing to be said of what is another by now, or gone.
    if (why.now) change(why.now);
  });
}

/** The rows are asked for in another way: other folds, another layout. */
function rearrange() {
  state.drawn = "";
  draw();
}

// Deciding

/**
 * @param {"accept" | "reject"} decision
 * @param {Event} event
 * @param {{ reason?: string, answers?: boolean }} [more]
 * @returns {Promise<boolean>} true if it counts
 */
async function decide(decision, event, more = {}) {
  const diff = current();
  // The second click of a double click is none of its own.
  if (!diff || (event instanceof MouseEvent && event.detail > 1)) return false;
  sheet.seen.flush();
  await Promise.all([telling, field.now?.told()]);
  try {
    const isDrawn = sheet.diff?.id === diff.id;
    const ruled = await decideOn(diff, decision, event, { ...more, g: isDrawn ? sheet.g : diff.g, drawnMs: isDrawn ? sheet.seen.drawnMs() : null });
    if (!ruled) return false;
    const again = ruled.asks ? (/** @type {Event} */ yes) => void decide(decision, yes, { ...more, answers: true }) : null;
    // It may stand there already, with where is kept what was not sent.
    const isSaid = ruled.settled && byId("message").textContent?.includes(ruled.message);
    if (!isSaid) say(ruled.message, ruled.settled ? "good" : "warning", again);
    copy(ruled.clipboard);
    if (ruled.settled && (decision === "accept" || more.reason)) noteDecision(diff.written !== null);
    return ruled.settled;
  } catch (why) {
    failed(why);
    return false;
  }
}

/**
 * Accepts all diffs of which this tab has shown everything, one after the other.
 * @param {{ diffs: string, at: number }} [asked] what was asked about, and when; nothing to ask whether that is meant
 * @param {Event} [answer]
 */
async function acceptSeen(asked, answer) {
  sheet.seen.flush(true);
  await telling;
  const whole = state.diffs.filter((diff) => diff.seen.whole);
  if (!whole.length) return say("No pending diff has been on the screen as a whole.");
  const many = whole.length === 1 ? "1 diff has" : `${whole.length} diffs have`;
  const diffs = JSON.stringify(whole.map(({ id, g }) => [id, g]));
  /** @param {string} why */
  const ask = (why) => {
    const at = asked?.diffs === diffs ? asked.at : performance.now();
    say(`${many} been on the screen as a whole: accept ${whole.length === 1 ? "it" : "them"}?${why}`, "warning", (event) => void acceptSeen({ diffs, at }, event).catch(failed));
  };
  if (!asked || !answer || asked.diffs !== diffs) return ask("");
  // A question is read before it is answered.
  const drawnMs = Math.min(sheet.seen.drawnMs() ?? Infinity, Math.floor(performance.now() - asked.at));
  const left = [];
  for (const diff of whole) {
    const ruled = await decideOn(diff, "accept", answer, { g: diff.g, drawnMs }).catch((why) => ({ settled: false, message: why.message, code: why.code }));
    if (diff === whole[0] && (ruled?.code === "tooSoon" || ruled?.code === "held")) return ask(` (${ruled.message})`);
    if (diff === whole[0]) say("");
    if (!ruled?.settled) left.push(`${diff.name}: ${ruled?.message ?? "another decision was under way"}`);
    // No key that is held repeats as slowly.
    await new Promise((go) => setTimeout(go, 200));
  }
  noteDecision(false);
  const count = whole.length - left.length;
  say(`accepted ${count === 1 ? "1 diff" : `${count} diffs`}${left.length ? `; left: ${left.join(", ")}` : ""}`, left.length ? "warning" : "good");
}

/** What is not written yet is the agent's now, and nothing before it is undone by a key. @param {boolean} isWritten */
function noteDecision(isWritten) {
  if (isWritten) (state.decided ??= []).push(new Map(state.diffs.map(({ id, undo }) => [id, undo[0]])));
  else state.decided = [];
}

/** Undoes what was done last: in this diff, or to what is written. */
function undo() {
  const diff = current();
  const before = state.decided?.at(-1);
  // Of what was done before the page was loaded, the program knows what was last.
  const isUnknown = state.decided === null && !diff?.undo[0];
  if (!isUnknown && (!before || (diff && diff.undo[0] > (before.get(diff.id) ?? 0)))) return act("undo");
  state.decided?.pop();
  return turn("-", "undo");
}

/**
 * Tells the program what is typed and not sent. It is numbered: what was sent last counts, whichever way it takes.
 * @param {string} of what it is about: a diff, a row of the list
 * @param {object} what
 * @param {boolean} [isLast]
 */
const tellWords = (of, what, isLast) => post(`${of}/words`, { n: (state.words += 1), ...what }, isLast);

/** @param {Diff} diff */
const pathOf = (diff) => `/diffs/${diff.id}`;

function reason() {
  const diff = current();
  if (!diff) return;
  const does = diff.written ? "Take back" : "Reject";
  ask({
    diff: diff.id, title: `${does} ${diff.name}, and say why`, typed: diff.reason, word: does, isRefusal: true,
    send: (text, event) => decide("reject", event, { reason: text }),
    tell: (text, isLast) => {
      const known = state.diffs.find(({ id }) => id === diff.id);
      if (known) known.reason = text;
      return tellWords(pathOf(diff), { reason: text }, isLast);
    },
  });
}

/**
 * Asks for words in a dialog.
 * @param {Omit<Parameters<typeof writing>[0], "label" | "text" | "class" | "leave">} how
 */
function ask(how) {
  const { made, area } = writing({
    ...how, label: how.title ?? "", text: "", class: "dialog-form", leave: () => box.close(),
    send: (text, event) => {
      // There may be a question about it, which is asked below.
      if (how.isRefusal) box.close();
      return how.send(text, event);
    },
  });
  const box = dialog("", made);
  area.focus();
}

/**
 * Asks for words about a row of the list, or goes on with those that were not sent.
 * @param {string} id
 * @param {boolean} isReason
 */
function askAboutRow(id, isReason) {
  const row = rowOf(id);
  const words = state.turns?.words[id];
  const name = row && "shown" in row ? row.shown : `turn ${id}`;
  /** @type {(text: string, isLast: boolean) => Promise<{ hidden?: string | null }>} */
  const tell = (text, isLast) => tellWords(`/turns/${id}`, isReason ? { reason: text } : { note: text }, isLast);
  if (isReason) {
    return ask({
      diff: null, title: `Take back ${name}, and say why`, typed: words?.reason, word: "Take back", isRefusal: true, tell,
      // What was typed about one text is no reason against another.
      send: async (text) => Boolean(await turn(id, "takeBack", { reason: text, revision: row?.revision ?? null })),
    });
  }
  ask({
    diff: null, title: `Note on ${name}`, typed: words?.note, word: "Save note", tell, left: () => {},
    send: async (text) => {
      const isKept = await tell(text, false).then(() => true, (why) => void failed(why));
      if (!isKept) return false;
      say(text.trim() ? `your note on ${name} goes with what you decide about it` : `there is no note on ${name}`);
      return true;
    },
  });
}

// Notes and edits

/**
 * At once, so that no word is taken for a key.
 * @param {{ lines?: [number, number], removed?: [number, number] }} on lines after, or before if all of these are removed
 * @param {number} row the row below which it is written
 */
function writeNote(on, row) {
  const diff = current();
  if (!diff) return;
  if (sheet.diff?.id !== diff.id) return say(`The rows of ${diff.name} are not there yet.`);
  const { lines, removed } = on;
  // The one that is there already, at the same line.
  const start = (/** @type {Partial<import("./wire.js").Remark>} */ it) => it.removed ? -2 - it.removed[0] : it.lines?.[0] ?? -1;
  const known = diff.remarks.find((it) => start(it) === start(on));
  const old = known?.text ?? "";
  const { g } = sheet;
  const [first, last] = removed ?? lines ?? [0, 0];
  const place = `${removed ? "the removed " : ""}${last > first + 1 ? `lines ${first + 1} to ${last}` : last ? `line ${last}` : "the file"}`;
  const { made, area } = writing({
    diff: diff.id, label: `Note on ${place} of ${diff.name}`, text: old, word: "Save note",
    send: (text) => act("note", { lines, removed, text }, g),
    leave: () => sheet.written(),
    tell: (text, isLast) => tellWords(pathOf(diff), { note: { g, lines, removed, text } }, isLast),
    left: (text) => post(`/diffs/${diff.id}/note`, { g, lines, removed, text }).catch(failed),
    more: lines && !removed ? [{ word: "Suggest other lines", act: async (to) => {
      const { text } = await get(`/diffs/${diff.id}/text`, { g, side: "after" });
      const those = text.split("\n").slice(lines[0], lines[1]).join("\n");
      to.setRangeText(`\`\`\`suggestion\n${those}\n\`\`\`\n`, to.selectionStart, to.selectionEnd, "end");
      to.dispatchEvent(new Event("input"));
      to.focus();
    } }] : [],
  });
  // It may become another text before the first letter is there.
  tellWords(pathOf(diff), { begun: { g, lines, removed, text: old } }).catch(() => {});
  sheet.write(made, row, async (now) => (last ? sheet.rowOf(removed ? "left" : "right", last - 1, now) : 0));
  area.focus();
}

function note() {
  const rows = sheet.selected() ?? [sheet.cursor, sheet.cursor + 1];
  const on = sheet.linesOf(/** @type {[number, number]} */ (rows));
  sheet.selectedFrom = null;
  const row = rows[1] - 1;
  if (!on) return writeNote({}, row);
  return writeNote(on.side === "right" ? { lines: on.lines } : { removed: on.lines }, row);
}

/**
 * Opens something to type in: what is typed until it is there is no command.
 * @param {() => Promise<unknown>} open
 */
async function opening(open) {
  if (state.isOpening) return;
  state.isOpening = true;
  await open().finally(() => {
    state.isOpening = false;
  });
}

/**
 * Opens something to type in that is about the current diff, once its rows are there.
 * @param {() => unknown} open
 */
const openingOnRows = (open) => opening(async () => {
  await shown;
  const diff = current();
  if (diff && sheet.diff?.id !== diff.id) {
    state.opened.add(diff.id);
    draw();
    await shown;
  }
  await open();
});

/** @param {number | null} hunk */
const edit = (hunk) => openingOnRows(() => openText(hunk));

/** @param {number | null} hunk */
async function openText(hunk) {
  const diff = current();
  if (!diff) return;
  if (diff.takesNoEdits) return say(diff.takesNoEdits, "warning");
  const { g } = sheet;
  const here = sheet.linesOf([sheet.cursor, sheet.cursor + 1]);
  const line = here?.side === "right" ? here.lines[0] : diff.hunks[sheet.hunkAbove(sheet.cursor)]?.after[0] ?? 0;
  const query = { g, edits: true, side: hunk === null ? "accepted" : "after", ...(hunk === null ? { line } : { hunk }) };
  const answer = await get(`/diffs/${diff.id}/text`, query);
  // The mark at the beginning of a file is no letter of it. The server puts it back, as it does the ends of lines.
  const text = answer.text.replace(/^\uFEFF/, "");
  /** @type {(text: string) => object} */
  const body = (to) => ({ g, ...(hunk === null ? { lines: answer.lines } : { hunk }), text: to });
  const [from, to] = answer.lines ?? [];
  const title = answer.lines && `Lines ${(from + 1).toLocaleString()} to ${to.toLocaleString()} of ${diff.name}, which is too large to be edited here as a whole`;
  const { made, area } = writing({
    diff: diff.id, label: hunk === null ? `The text of ${diff.name}` : `Hunk ${hunk + 1} of ${diff.name}`, text, typed: answer.typed,
    isText: true, title, word: "Save", hidden: answer.hidden, class: hunk === null ? "file-text writing" : "writing",
    send: (changed) => act("edit", body(changed), g),
    leave: () => (hunk === null ? leaveFile() : sheet.written()),
    tell: (changed, isLast) => tellWords(pathOf(diff), { edit: body(changed) }, isLast),
  });
  if (hunk === null) {
    view.replaceWith(made);
  } else {
    const last = (hunks = sheet.hunks) => Math.max(0, (hunks[hunk]?.[1] ?? 1) - 1);
    await sheet.goTo(last(), "nearest");
    sheet.write(made, last(), async (_, hunks) => last(hunks));
  }
  area.focus();
  if (hunk === null) {
    const start = area.value.split("\n", answer.at).reduce((sum, it) => sum + it.length + 1, 0);
    // A field shows the place of its caret once it gets the focus.
    area.blur();
    area.setSelectionRange(start, start);
    area.focus();
  }
}

function leaveFile() {
  document.querySelector(".file-text")?.replaceWith(view);
  view.focus();
  rearrange();
}

// Going about

/** What was not seen yet: the next page of this hunk, another hunk, another diff. */
async function next() {
  const diff = current();
  if (!diff) return;
  if (state.found) return hit(1);
  const here = sheet.hunkAt(sheet.cursor);
  const bottom = view.getBoundingClientRect().bottom;
  const last = here === null ? null : sheet.element(sheet.hunks[here][1] - 1);
  if (here !== null && (!last || last.getBoundingClientRect().bottom > bottom + 1)) {
    view.scrollBy({ top: view.clientHeight - 40 });
    return sheet.goTo(Math.max(sheet.firstRow(), sheet.cursor + 1), "none");
  }
  const isPassed = (/** @type {number} */ hunk) => diff.ignoresWhite && diff.hunks[hunk].white;
  const after = sheet.hunks.findIndex(([from], hunk) => from > sheet.cursor && !isPassed(hunk));
  if (after >= 0) return sheet.goTo(sheet.hunks[after][0], "center");
  const unseen = diff.hunks.findIndex((hunk, at) => !diff.seen.hunks[at] && !hunk.out && !isPassed(at));
  const other = state.diffs.find((it) => it.id !== diff.id && it.seen.unseen > 0);
  if (unseen >= 0) return sheet.goTo(sheet.hunks[unseen][0], "center");
  if (other) return select(other.id);
  say("All of it has been on the screen.");
}

function previous() {
  if (state.found) return hit(-1);
  const before = sheet.hunks.findLastIndex(([from]) => from < sheet.cursor);
  if (before >= 0) sheet.goTo(sheet.hunks[before][0], "center");
}

/** @param {number} by */
function otherDiff(by) {
  const at = state.diffs.findIndex((diff) => diff.id === state.current);
  const to = state.diffs[(at + by + state.diffs.length) % state.diffs.length];
  if (to) select(to.id);
}

/** @param {number} by */
function page(by) {
  view.scrollBy({ top: by * (view.clientHeight - 40) });
  requestAnimationFrame(() => sheet.goTo(sheet.firstRow(), "none"));
}

/**
 * Shows more lines of the gap beside the cursor, or of this one.
 * @param {number} above
 * @param {number} below
 * @param {number} [gap]
 */
function unfold(above, below, gap) {
  const row = sheet.row(sheet.cursor);
  const name = gap ?? row?.fold?.gap ?? current()?.hunks[sheet.hunkAbove(sheet.cursor)]?.before[1];
  if (name === undefined) return;
  const { gaps } = sheet.arrangement();
  const [a, b] = gaps.get(name) ?? [0, 0];
  if (above === Infinity && a >= 1e6) gaps.delete(name);
  else gaps.set(name, [Math.min(a + above, 1e6), Math.min(b + below, 1e6)]);
  rearrange();
}

function search() {
  askLine("Search all diffs", "", searchFor);
}

/** The first word that changes in the cursor's line, or else its first one. */
function searchWord() {
  const { changed, same } = sheet.row(sheet.cursor) ?? {};
  const cell = changed?.right ?? changed?.left ?? same?.right;
  /** @type {(text: string | undefined) => string[]} */
  const wordsOf = (text) => text?.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const words = wordsOf(cell?.text);
  const other = wordsOf(changed?.right && changed.left?.text);
  const word = words.find((it) => !other.includes(it)) ?? words[0];
  return word ? searchFor(word) : say("There is no word in this line.");
}

/** @param {string} text */
async function searchFor(text) {
  try {
    const { hits, more } = await get("/search", { q: text });
    if (!hits.length) return say(`“${text}” is in no pending diff.`);
    state.found = { hits, more, at: -1 };
    sheet.hits = (side, line) => (state.found?.hits ?? [])
      .filter((it) => it.id === sheet.diff?.id && it.g === sheet.g && it.side === side && it.line === line).map((it) => it.at);
    await hit(1);
  } catch (why) {
    failed(why);
  }
}

/** @param {number} by */
async function hit(by) {
  const { found } = state;
  if (!found) return;
  found.at = (found.at + by + found.hits.length) % found.hits.length;
  const to = found.hits[found.at];
  if (to.id !== state.current) {
    turnTo(to.id);
    state.opened.add(to.id);
  }
  const diff = current();
  if (!diff) return say("The diff of this hit is gone.");
  await line(diff, to.side, to.line);
  sheet.redrawAll();
  say(null);
  drawPlace();
}

/**
 * Goes to a line, and unfolds it.
 * @param {Diff} diff
 * @param {"left" | "right"} side
 * @param {number} to
 */
async function line(diff, side, to) {
  if (sheet.diff?.id !== diff.id) {
    state.drawn = keyOfRows(diff);
    await sheet.show(diff);
    drawTop();
    drawSide();
    drawHead(diff);
  }
  let row = await sheet.rowOf(side, to);
  const { fold } = (await sheet.load(row)) ?? {};
  if (fold) {
    const beyond = side === "left" ? to - fold.left : to - fold.right;
    const { gaps } = sheet.arrangement(diff);
    const [a, b] = gaps.get(fold.gap) ?? [0, 0];
    const isNearTop = beyond < fold.lines / 2;
    gaps.set(fold.gap, isNearTop ? [a + beyond + 4, b] : [a, b + fold.lines - beyond + 3]);
    await sheet.show(diff);
    state.drawn = keyOfRows(diff);
    row = await sheet.rowOf(side, to);
  }
  await sheet.goTo(row, "center");
}

// What was written

/** The turn or change of this name. @param {string} id */
const rowOf = (id) => state.turns?.turns.flatMap((it) => [it, ...it.changes]).find((it) => it.id === id);

/**
 * @param {string} id
 * @param {"look" | "keep" | "takeBack" | "undo" | "stage"} what
 * @param {object} [more]
 */
async function turn(id, what, more) {
  const known = rowOf(id);
  if (what === "look") state.wanted = id;
  else state.acted = { id, message: null };
  try {
    const { done, message } = await post(`/turns/${id}/${what}`, {
      revision: known?.revision ?? null, isChosen: true, restedMs: Math.floor(performance.now() - state.turnsSince), ...more,
    });
    // What was to be opened may be there by now.
    if (what !== "look" || !done || state.wanted === id) say(message, done ? "good" : "warning");
    if (what !== "look") state.acted = { id: done ? state.acted.id : null, message };
    if (done && (what === "keep" || what === "takeBack")) noteDecision(true);
    return done && message;
  } catch (why) {
    failed(why);
    return false;
  }
}

/** Shows what is written, in the diff that is there or in one that comes. @param {string} id */
async function look(id) {
  // What is decided then is what is in the list now: the file may have changed since that came.
  await loadTurns();
  const known = state.diffs.find((diff) => isOf(diff, id));
  if (known) show(known.id);
  else await turn(id, "look");
}

/**
 * Takes a hunk of what is written back, and shows what is left: the diff is of a file that is another now.
 * @param {number} hunk
 * @param {Event} event
 */
async function takeBackHunk(hunk, event) {
  const diff = current();
  const { after } = diff?.hunks[hunk] ?? {};
  if (!diff?.written || !after) return;
  const said = await turn(diff.written, "takeBack", { lines: [after[0], Math.max(after[0], after[1] - 1)] });
  if (!said || !(await decide("reject", event))) return;
  await turn(diff.written, "look");
  say(said, "good");
}

/**
 * Pages to be read, one after the other.
 * @param {{ title: string, lines: string[] }[]} pages
 * @param {string} [next] the key that shows the next one
 */
function read([page, ...others], next) {
  const turn = () => {
    shown.close();
    read([...others, page], next);
  };
  const shown = dialog(page.title, el("pre", { tabindex: 0 }, ...page.lines.map((text) => el("span", {
    class: text.startsWith("+") ? "ins" : text.startsWith("-") ? "del" : "",
  }, `${text}\n`))), el("div", { class: "buttons" },
    others.length > 0 && button("The next one", turn, { key: next }), button("Close", () => shown.close(), { key: "Esc" })));
  shown.addEventListener("keydown", (event) => {
    if (others.length && event.key === next) turn();
  });
}

/** What is proposed beside other texts of its file: before the turn, as it was looked at last, in HEAD. */
async function compare() {
  const diff = current();
  if (!diff) return;
  const { pages, none } = await get(`/diffs/${diff.id}/bases`);
  if (!pages.length) return say(none);
  read(pages, keyOf("base"));
}

async function showHistory() {
  try {
    const { items } = await get("/history");
    /** @type {import("./wire.js").Former[]} */
    const rows = items;
    const box = dialog("What you decided",
      rows.length ? el("ul", { class: "hits" }, ...rows.map((row, at) => el("li", {},
        el("button", { type: "button", class: "item", onclick: async () => {
          const item = await get(`/history/${at}`);
          box.close();
          read([item]);
        } }, el("span", { class: "state" }), el("span", { class: "file" }, row.shown), el("span", { class: "count" }, row.lines),
        el("span", { class: "count quiet" }, `${row.state} · ${row.agent} · ${row.ago}`)))))
        : el("p", { class: "quiet" }, "Nothing yet."),
      el("div", { class: "buttons" }, button("Close", () => box.close(), { key: "Esc" })));
  } catch (why) {
    failed(why);
  }
}

/** Puts the file as it is on disk, or the lines of it that are selected, into the agent's prompt. */
function mention() {
  const diff = current();
  if (!diff) return;
  const rows = sheet.selected();
  const lines = rows && sheet.linesOf(rows, ["left"])?.lines;
  post("/mention", { id: diff.id, lines: lines ? [lines[0], lines[1] - 1] : null })
    .then(({ done, message }) => say(message, done ? "good" : "warning")).catch(failed);
}

/** @typedef {{ diff: Diff, remark: import("./wire.js").Remark }} OfDiff */

/** The person's notes on all that is pending, in order. @returns {OfDiff[]} */
const allNotes = () => state.diffs.flatMap((diff) => diff.remarks.map((remark) => ({ diff, remark })));

/** @param {OfDiff} note */
function toNote({ diff, remark }) {
  turnTo(diff.id);
  return line(diff, "right", remark.lines?.[0] ?? 0).then(draw);
}

function nextNote() {
  const notes = allNotes();
  const at = (/** @type {OfDiff} */ { diff, remark }) => [state.diffs.indexOf(diff), remark.lines?.[0] ?? -1];
  const [diff, line] = [state.diffs.findIndex(({ id }) => id === state.current), sheet.linesOf([sheet.cursor, sheet.cursor + 1])?.lines[0] ?? -1];
  const next = notes.find((note) => at(note)[0] > diff || (at(note)[0] === diff && at(note)[1] > line)) ?? notes[0];
  return next ? toNote(next) : say("There are no notes on what is pending.");
}

function showMode() {
  const { status } = state;
  if (!status?.mode) return say("No agent that is connected lets you choose when it asks.");
  /** @type {(word: string, choice: string) => HTMLElement} */
  const choice = (word, it) => button(word, () => {
    box.close();
    post("/review", { choice: it }).then(({ message }) => say(message)).catch(failed);
  }, { class: status.choice === it ? "accept" : undefined });
  const box = dialog("When you are shown changes", ...status.asking.map((text) => el("p", {}, text)),
    el("div", { class: "buttons" }, choice("Show every change first", "always"), choice("As the agent asks", "asked"), choice("After the write", "after")));
}

function showNotes() {
  const notes = allNotes();
  /** @type {(note: OfDiff, event: Event) => void} */
  const forget = ({ diff, remark }, { currentTarget }) => {
    const { lines, removed } = remark;
    post(`/diffs/${diff.id}/note`, { g: diff.g, lines, removed, text: "" }).then(({ message, tone }) => {
      say(message, tone);
      /** @type {HTMLElement} */ (currentTarget).closest("li")?.remove();
    }).catch(failed);
  };
  const box = dialog("Your notes", notes.length ? el("ul", { class: "hits" }, ...notes.map(({ diff, remark }) => el("li", {},
    el("button", { type: "button", class: "item", onclick: () => {
      box.close();
      toNote({ diff, remark }).catch(failed);
    }, onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (commandOf(event, ["notes"])?.name === "delete-note" && event.isTrusted && !event.repeat) forget({ diff, remark }, event);
    } }, el("span", { class: "file" }, `${diff.shown} · ${remark.place}`), el("span", { class: "grow" }, remark.text || remark.says)))))
    : el("p", { class: "quiet" }, "There are none on what is pending."),
    el("div", { class: "buttons" }, button("Send them now", () => {
      box.close();
      post("/sendNotes").then(({ message }) => say(message)).catch(failed);
    }), button("Close", () => box.close(), { key: "Esc" })));
}

// Commands: the names of the table, and what they do here

/** @param {[number, number]} rows */
const rowsAsShown = ([from, to]) => ({ rows: { ...sheet.query(), total: sheet.total, from, to } });

const selection = () => {
  const rows = sheet.selected();
  sheet.selectedFrom = null;
  return rows && rowsAsShown(rows);
};

/** @type {Record<string, (event: Event) => unknown>} */
const commands = {
  accept: (event) => decide("accept", event),
  "accept-seen": () => acceptSeen(),
  reject: (event) => decide("reject", event),
  reason,
  note: () => openingOnRows(note),
  "note-file": () => openingOnRows(() => {
    view.scrollTop = 0;
    return sheet.goTo(0, "none").then(() => writeNote({}, 0));
  }),
  notes: showNotes,
  "next-note": nextNote,
  exclude: () => {
    const hunk = sheet.hunkAt(sheet.cursor) ?? sheet.hunkAbove(sheet.cursor);
    return act("toggle", selection() ?? { hunk });
  },
  split: () => act("split", selection() ?? rowsAsShown([sheet.cursor, sheet.cursor])),
  select: () => {
    sheet.selectedFrom = sheet.selectedFrom === null ? sheet.cursor : null;
    sheet.mark();
  },
  next,
  previous,
  edit: () => edit(null),
  undo,
  redo: () => act("redo"),
  merge: () => act("merge"),
  stage: () => turn(current()?.written ?? "-", "stage"),
  answer: (event) => state.yes?.(event),
  "next-diff": () => otherDiff(1),
  "previous-diff": () => otherDiff(-1),
  number: (event) => {
    const to = state.diffs[Number(/** @type {KeyboardEvent} */ (event).key) - 1];
    if (to) select(to.id);
  },
  files: () => {
    byId("side").classList.add("filtered");
    byId("filter").focus();
  },
  mention: () => mention(),
  down: () => sheet.goTo(sheet.cursor + 1),
  up: () => sheet.goTo(sheet.cursor - 1),
  "page-down": () => page(1),
  "page-up": () => page(-1),
  top: () => sheet.goTo(0),
  end: () => sheet.goTo(sheet.total - 1),
  base: compare,
  search,
  "search-word": searchWord,
  "previous-hit": previous,
  "end-search": () => {
    const is = state.found !== null || sheet.selectedFrom !== null || state.yes !== null;
    state.found = null;
    sheet.selectedFrom = null;
    if (state.yes) say("");
    sheet.hits = () => [];
    if (is) sheet.redrawAll();
    else /** @type {HTMLElement | null} */ (document.querySelector("#acts button"))?.focus();
    drawPlace();
  },
  line: () => askLine("Go to line", "", (text) => {
    const diff = current();
    if (diff && Number(text) > 0) line(diff, "right", Math.min(Number(text), diff.lines[1]) - 1).catch(failed);
  }),
  layout: () => {
    localStorage.setItem("pillion layout", sheet.layout === "split" ? "unified" : "");
    rearrange();
  },
  more: () => unfold(20, 20),
  gap: () => unfold(Infinity, Infinity),
  unfold: () => {
    sheet.arrangement().all = !sheet.arrangement().all;
    rearrange();
  },
  wrap: () => sheet.table.classList.toggle("cut"),
  copy: async () => {
    const diff = current();
    const { text } = await get(`/diffs/${diff?.id}/text`, { g: sheet.g, side: "after", hunk: sheet.hunkAbove(sheet.cursor) });
    copy(text, "the hunk is copied");
  },
  "copy-path": () => copy(current()?.shown ?? null, "the path is copied"),
  whitespace: () => act("whitespace", { ignore: !current()?.ignoresWhite }),
  "send-notes": () => post("/sendNotes").then(({ message }) => say(message)).catch(failed),
  mode: showMode,
  view: () => turn("-", "look"),
  history: showHistory,
  list: () => {
    state.hidesLists = false;
    drawSide();
    const first = () => /** @type {HTMLElement | null} */ (document.querySelector(".item.turn"));
    first()?.focus();
    // It keeps the keyboard whatever comes. What is pressed until there is a first one is none of the diff's.
    return first() ? loadTurns() : opening(() => loadTurns().then(() => first()?.focus()));
  },
  pane: () => {
    state.hidesLists = !state.hidesLists;
    drawSide();
  },
  help: () => showHelp(help((name) => name in commands || name in onRow)),
};

/** What holds on a row of the list of what was written. @type {Record<string, (id: string, item: HTMLElement) => unknown>} */
const onRow = {
  down: (_, item) => moveItem(item, 1),
  up: (_, item) => moveItem(item, -1),
  "page-down": (_, item) => moveItem(item, 10),
  "page-up": (_, item) => moveItem(item, -10),
  top: (_, item) => moveItem(item, -Infinity),
  end: (_, item) => moveItem(item, Infinity),
  open: look,
  keep: (id) => turn(id, "keep"),
  "take-back": (id) => turn(id, "takeBack"),
  undo: (id) => turn(id, "undo"),
  stage: (id) => turn(id, "stage"),
  reason: (id) => askAboutRow(id, true),
  note: (id) => askAboutRow(id, false),
  redo: () => say(`nothing is redone here: ${keyOf("keep")} keeps it, ${keyOf("take-back")} takes it back`),
  next: (_, item) => moveToUnseen(item) || say("nothing is unseen here"),
};

/**
 * @param {string} name
 * @param {Event} event
 */
function run(name, event) {
  if (!event.isTrusted) return;
  Promise.resolve(commands[name]?.(event)).catch(failed);
}

document.addEventListener("keydown", (event) => {
  const on = /** @type {HTMLElement} */ (event.target);
  if (!event.isTrusted || on.closest("dialog, textarea")) return;
  if (state.isOpening) return event.preventDefault();
  if (on.closest("input")) {
    if (event.key === "Escape") view.focus();
    return;
  }
  const item = /** @type {HTMLElement | null} */ (on.closest("#lists .item"));
  const isButton = on.closest("button") !== null;
  if (item && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    return moveItem(item, event.key === "ArrowDown" ? 1 : -1);
  }
  if (isButton && event.key === "Escape") return (sheet.element(sheet.cursor) ?? view).focus();
  // Enter, space and Tab are a button's own.
  if (isButton && ["Enter", " ", "Tab"].includes(event.key)) return;
  if (event.key === "Tab" && state.diffs.length < 2) return;
  const id = item?.dataset.turn;
  const command = commandOf(event, [...(state.yes ? ["question"] : []), id ? "list" : "diff"]);
  if (!command) return;
  if (command.name === "accept" || command.name === "reject") notePause();
  if (event.repeat && command.guard !== "free") return event.preventDefault();
  const { isLost } = state;
  state.isLost = false;
  if (isLost && command.name === "copy") return say(`nothing is asked any more, and nothing was decided: ${event.key} again copies`, "warning");
  const act = id && item && onRow[command.name] ? () => onRow[command.name](id, item) : commands[command.name];
  event.preventDefault();
  if (!act) return say(`${event.key} is in the terminal's review only: ${command.help}.`);
  if (state.yes && command.name !== "answer" && command.guard !== "free") say("");
  Promise.resolve(act(event)).catch(failed);
});

// Clicks

sheet.moved = drawPlace;

/** What the buttons above a hunk do. @type {Record<string, (hunk: number, event: Event) => unknown>} */
const onHunk = {
  takeBack: takeBackHunk,
  toggle: (hunk) => act("toggle", { hunk }),
  edit,
  note: (hunk) => opening(() => sheet.goTo(sheet.hunks[hunk][0], "none").then(note)),
};

view.addEventListener("click", (event) => {
  const on = /** @type {HTMLElement} */ (event.target);
  const row = /** @type {HTMLElement | null} */ (on.closest("[data-row]"));
  const does = /** @type {HTMLElement | null} */ (on.closest(".strip button"))?.dataset.act;
  if (does && event.isTrusted) {
    const { strip } = /** @type {HTMLElement} */ (on.closest(".strip")).dataset;
    return void Promise.resolve(onHunk[does](Number(strip), event)).catch(failed);
  }
  if (!row || on.closest(".writing")) return;
  const at = Number(row.dataset.row);
  if (on.closest(".fold button")) {
    const is = (/** @type {string} */ name) => on.classList.contains(name);
    unfold(is("above") ? 20 : is("all") ? Infinity : 0, is("below") ? 20 : is("all") ? Infinity : 0, Number(row.dataset.gap));
  } else if (on.closest(".whole")) {
    sheet.arrangement().long = true;
    rearrange();
  } else if (on.closest(".note")) {
    const remark = current()?.remarks[Number(/** @type {HTMLElement} */ (on.closest(".note")).dataset.note)];
    if (remark && on.classList.contains("edit-note")) writeNote({ lines: remark.lines ?? undefined, removed: remark.removed ?? undefined }, at);
    if (remark && on.classList.contains("delete-note")) act("note", { lines: remark.lines, removed: remark.removed, text: "" });
  } else if (!getSelection()?.toString()) {
    sheet.goTo(at, "none");
  }
});

// A drag over line numbers selects rows; a click on one notes something on it.
view.addEventListener("pointerdown", (event) => {
  const row = /** @type {HTMLElement} */ (event.target).closest(".number")?.closest("[data-row]");
  if (!row || event.button) return;
  event.preventDefault();
  sheet.goTo(Number(/** @type {HTMLElement} */ (row).dataset.row), "none");
  sheet.selectedFrom = sheet.cursor;
  /** @param {PointerEvent} move */
  const over = (move) => {
    const to = /** @type {HTMLElement | null | undefined} */ (document.elementFromPoint(move.clientX, move.clientY)?.closest("[data-row]"));
    if (to && Number(to.dataset.row) !== sheet.cursor) sheet.goTo(Number(to.dataset.row), "nearest");
  };
  view.addEventListener("pointermove", over);
  addEventListener("pointerup", () => {
    view.removeEventListener("pointermove", over);
    note();
  }, { once: true });
});

// A finger that goes sideways shows another diff, unless it scrolls a line that is cut or selects something.
/** @type {Touch | null} */
let touched = null;
view.addEventListener("touchstart", ({ touches, target }) => {
  touched = touches.length === 1 && !/** @type {HTMLElement} */ (target).closest(".cut .code, .writing") ? touches[0] : null;
}, { passive: true });
view.addEventListener("touchend", ({ changedTouches: [to], touches }) => {
  if (!touched || !to || touches.length || to.identifier !== touched.identifier || getSelection()?.toString()) return;
  const [x, y] = [to.clientX - touched.clientX, to.clientY - touched.clientY];
  if (Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) otherDiff(x < 0 ? 1 : -1);
}, { passive: true });

byId("lists").addEventListener("click", (event) => {
  const item = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest(".item"));
  if (item?.dataset.diff) show(Number(item.dataset.diff));
  else if (item?.dataset.turn) look(item.dataset.turn).catch(failed);
});
byId("filter").addEventListener("input", drawSide);
byId("filter").addEventListener("blur", (event) => {
  byId("side").classList.toggle("filtered", /** @type {HTMLInputElement} */ (event.target).value !== "");
});
byId("help").addEventListener("click", (event) => run("help", event));
byId("mode").addEventListener("click", (event) => run("mode", event));
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) state.isNews = false;
  drawTop();
});
new ResizeObserver(() => current() && draw()).observe(byId("main"));

// A token that was used before does not matter to a browser that has the cookie.
/** @type {unknown} */
let refusal;
await enter().catch((why) => {
  refusal = why;
});
await listen(heard, (isThere, why) => {
  drawLink(isThere, why);
  if (why && refusal) failed(refusal);
});
