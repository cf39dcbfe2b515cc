// The shapes of what the server says, for the type checker: `crates/web/src/wire.rs` has what each of them means.

/** @typedef {[number, number]} Span */
/** @typedef {{ before: Span, after: Span, out: boolean, mark: string | null, white: boolean }} Hunk */
/** @typedef {{ lines: Span | null, removed: Span | null, place: string, text: string, says: string }} Remark */
/** @typedef {{ hunks: boolean[], unseen: number, whole: boolean }} SeenNow */
/**
 * @typedef {{
 *   id: number, revision: number, g: number, shown: string, name: string, agent: string, does: string,
 *   set: { id: number, place: number, of: number } | null, isComparing: boolean, added: number, removed: number, hunks: Hunk[],
 *   lines: Span, facts: string[], notes: string[], written: string | null, isNew: boolean, deletes: boolean, isOneSided: boolean,
 *   canMerge: boolean, takesNoEdits: string | null, undo: Span, remarks: Remark[], reason: string, ignoresWhite: boolean,
 *   isDeciding: boolean, seen: SeenNow, isGenerated: boolean,
 * }} Diff
 */
/**
 * @typedef {{
 *   line: number, text: string, words?: Span[], replaced?: Span[], blanks?: number, moved?: number, end?: string, cut?: number,
 * }} Cell
 */
/** @typedef {{ left: number, right: number, lines: number, gap: number }} Fold */
/**
 * @typedef {{
 *   same?: { left: number, right: Cell }, changed?: { hunk: number, left?: Cell, right?: Cell }, fold?: Fold, note?: number,
 * }} Row
 */
/** @typedef {{ g: number, total: number, from: number, hunks: Span[], rows: Row[] }} RowsPage */
/** @typedef {[number, number, string]} Colour */
/** @typedef {{ g: number, left: Record<string, Colour[]>, right: Record<string, Colour[]>, within: Record<string, string> }} Colours */
/** @typedef {"info" | "good" | "warning"} Tone */
/** @typedef {{ text: string, tone: Tone, isLasting: boolean, id: number | null }} Notice */
/** @typedef {{ id: number, words: string, tab: string | null, clipboard: string | null, next: number | null }} Gone */
/**
 * @typedef {{
 *   agents: string[], working: string[], mode: string | null, choice: string | null, asking: string[], warnings: string[],
 *   unseen: number, waiting: string[], decided: string | null,
 * }} Status
 */
/** @typedef {{ diffs: Diff[], status: Status, roots: string[], notices: string[], keys: KeyRow[][], version: string, process: number }} All */
/** @typedef {{ settled: boolean, code: string | null, message: string, asks: boolean, clipboard: string | null }} Ruled */
/** @typedef {{ id: number, g: number, side: "left" | "right", line: number, left: number | null, text: string, at: Span }} Hit */
/** @typedef {{ name: string, keys: string[], places: string[], guard: string, hint: string | null, help: string }} KeyRow */
/**
 * @typedef {{
 *   id: string, revision: string, shown: string, label: string, state: string, isUnseen: boolean, added: number | null,
 *   removed: number | null,
 * }} Change
 */
/** @typedef {{ id: string, heading: string, prompt: string, title: string, revision: string, changes: Change[] }} Turn */
/** @typedef {{ note: string, reason: string }} Words */
/** @typedef {{ turns: Turn[], leftOut: number, problem: string | null, words: Record<string, Words> }} Turns */
/** @typedef {{ id: string, shown: string, state: string, agent: string, ago: string, lines: string }} Former */

export {};
