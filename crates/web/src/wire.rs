//! What the page and its server say to each other: every route, with what it takes and what it answers, as JSON.
//!
//! | route | takes | answers |
//! | --- | --- | --- |
//! | `GET /`, `/app.js`, `/app.css` and the other files of the page | | the file |
//! | `POST /session` | [`Session`] | [`Entered`] and the cookie |
//! | `GET /events?tab=T` | | server-sent events: [`Event`], the first of them `all` |
//! | `GET /diffs/D/rows?g=&layout=&from=&to=&unfold=&long=` | [`RowsQuery`] | [`RowsPage`] |
//! | `GET /diffs/D/row?g=&layout=&unfold=&side=before&line=` | [`RowsQuery`], [`RowOf`] | [`RowAt`] |
//! | `GET /diffs/D/colours?g=&left=FROM-TO&right=FROM-TO` | lines from 0, `TO` not included | [`Colours`] |
//! | `GET /diffs/D/text?g=&side=&hunk=` | [`TextQuery`] | [`TextAnswer`] |
//! | `GET /diffs/D/bases` | | [`Pages`]: the proposal beside other texts of its file |
//! | `POST /diffs/D/toggle`, `/split` | [`Lines`] | [`Changed`] |
//! | `POST /diffs/D/edit` | [`EditText`] | [`Changed`] |
//! | `POST /diffs/D/undo`, `/redo`, `/merge` | [`At`] | [`Changed`] |
//! | `POST /diffs/D/note` | [`NoteText`] | [`Changed`] |
//! | `POST /diffs/D/words` | [`Typed`] | [`Unseeable`] |
//! | `POST /diffs/D/whitespace` | [`Whitespace`] | [`Changed`] |
//! | `POST /diffs/D/seen` | [`SeenLines`] | [`SeenNow`] |
//! | `POST /diffs/D/decide` | [`DecideNow`] | [`Ruled`] |
//! | `GET /search?q=` | | [`Hits`] |
//! | `GET /turns` | | [`pillion_view::changes::ChangesList`] |
//! | `POST /turns/ID/look`, `/keep`, `/takeBack`, `/undo`, `/stage` | [`TurnAct`]; `ID` is `7`, `7.2` or `-` for the last | [`Chosen`] |
//! | `POST /turns/ID/words` | [`RowTyped`]: kept for that row until it is decided | `{}` |
//! | `GET /history`, `/history/N` | | [`HistoryList`], [`HistoryItem`] |
//! | `POST /review` | [`Choose`] | [`Chosen`] |
//! | `POST /sendNotes` | `{}` | [`Chosen`] |
//! | `POST /mention` | [`Mention`] | [`Chosen`] |
//!
//! Every `POST` has `Content-Type: application/json` and `X-Pillion-Tab: T`, and so has every `GET` below `/diffs` the latter: what
//! was seen is known for each tab on its own. `T` is what the page made up for itself, at most 64 letters, digits and `-`.
//! A refusal has a status of 400 or more and is a [`Refusal`]; 409 says that `g` (or the revision) is not the one that is there
//! now, with what is.
//!
//! `g` counts in each diff: another one once its texts, its hunks or what is out of it are others. Lines count from 0. Places within a line are
//! units of UTF-16 of the text that was sent. Texts in rows, names and messages are as they may be shown: nothing in them is
//! invisible, and they are put into `textContent`. Those of [`TextAnswer`] are as they are.

use std::collections::BTreeMap;

use pillion_judge::act::{Guard, Place};
use pillion_judge::listed::ListedWords;
use pillion_judge::rows::Layout;
#[cfg(doc)]
use pillion_view::Chosen;
use pillion_view::SetPlace;
use pillion_view::changes::ChangesList;
use serde::{Deserialize, Serialize};

/// The one-time token from the fragment of the address: `{"token":"3xL…"}`.
#[derive(Debug, Deserialize)]
pub struct Session {
    /// The token.
    pub token: String,
}

/// What the page keeps, for this address only, and sends as `X-Pillion-Key` with all that it asks: a cookie is sent to every port.
#[derive(Debug, Serialize)]
pub struct Entered {
    /// It.
    pub key: String,
}

/// What the server tells a tab, as `event: diff` and `data: {…}`. None is ever named `open`, `error` or `message`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event", content = "data")]
pub enum Event {
    /// All that there is: the first event of each connection. What the page knew of diffs that are not in it is gone.
    All(Box<All>),
    /// A diff has come, or is another: it has another `g`, or only other notes, facts or seen hunks.
    Diff(Box<DiffState>),
    /// A diff is gone.
    Gone(Gone),
    /// Agents came or went, or what they do is another.
    Status(StatusNow),
    /// The list of what was written is another: it is to be asked for again, if it is shown. Its number, which is another one then.
    Turns(u64),
    /// The words on a row of that list are others.
    Words(WordsOn),
    /// A sentence for the person.
    Notice(Notice),
    /// The program ends: nothing more comes, and the page does not connect again.
    End(Notice),
}

/// All that there is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct All {
    /// The pending diffs, oldest first, the files of a set beside each other.
    pub diffs: Vec<DiffState>,
    /// The agents and what they do.
    pub status: StatusNow,
    /// The workspace folders, for people.
    pub roots: Vec<String>,
    /// What the person is told once: that this system does not tell who connects, or that `keys.toml` has a mistake.
    pub notices: Vec<String>,
    /// The commands and their keys, those of the terminal with what the person chose in `keys.toml`, in the groups in which help shows them.
    pub keys: Vec<Vec<KeyRow>>,
    /// The version of the program: a page of another one loads itself again.
    pub version: String,
    /// The process: the numbers of diffs are its own.
    pub process: u32,
}

/// A pending diff without its texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffState {
    /// Its number.
    pub id: u64,
    /// Counts the agent's proposals in it, from 1.
    pub revision: u32,
    /// The generation: see above. Grows.
    pub g: u64,
    /// The path for people, below the workspace if it is there: `src/a.rs`.
    pub shown: String,
    /// The name of the file alone: `a.rs`.
    pub name: String,
    /// The agent, with a number where several of its kind are here: `Claude Code 2`.
    pub agent: String,
    /// The verb between both names: `proposes`, `has written`, `proposes to delete`.
    pub does: String,
    /// Its place among files that belong together.
    pub set: Option<SetPlace>,
    /// True while texts are compared: nothing can be done with it until the next `diff` event.
    pub is_comparing: bool,
    /// Lines that would be added, without what is taken out.
    pub added: usize,
    /// Lines that would be removed.
    pub removed: usize,
    /// The hunks, in order; a hunk is named by its place in this list.
    pub hunks: Vec<HunkState>,
    /// The number of lines of the text before, and of the text after.
    pub lines: (usize, usize),
    /// The facts that the person is to know, most important first: each a sentence without a full stop. Shown above the rows, all of them.
    pub facts: Vec<String>,
    /// The agent's own notes about what it will write, and the change of permissions: a sentence each.
    pub notes: Vec<String>,
    /// The name of the change if it is in the file already: `7.2`. Accepting keeps it, rejecting with a reason takes it back.
    pub written: Option<String>,
    /// True if the file is not there yet.
    pub is_new: bool,
    /// True if the file is to be deleted.
    pub deletes: bool,
    /// True if only one side has lines: split shows nothing more than unified does.
    pub is_one_sided: bool,
    /// True if `merge` does something: the file on disk is another than the one that is compared with.
    pub can_merge: bool,
    /// The reason why nothing can be edited or taken out, if that is so.
    pub takes_no_edits: Option<String>,
    /// The number of acts that can be undone, and redone.
    pub undo: (usize, usize),
    /// The person's notes on it.
    pub remarks: Vec<Remark>,
    /// A reason for rejecting that was typed and not sent.
    pub reason: String,
    /// True if whitespace-only hunks are passed over.
    pub ignores_white: bool,
    /// True while a decision of it is being ruled about.
    pub is_deciding: bool,
    /// What the tab that gets this has seen of it.
    pub seen: SeenNow,
    /// True if the file is one that people rarely read: a lock file, or one that says that it is generated. Folded at first.
    pub is_generated: bool,
}

/// A hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkState {
    /// Lines before: the first, and the one after the last.
    pub before: (usize, usize),
    /// Lines after.
    pub after: (usize, usize),
    /// True if it is taken out.
    pub out: bool,
    /// What is special: `would undo a newer change`.
    pub mark: Option<String>,
    /// True if it changes only whitespace that means nothing.
    pub white: bool,
}

/// A note of the person's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remark {
    /// The lines of the text after as it is now: the first, and the one after the last; none if it is on the file.
    pub lines: Option<(usize, usize)>,
    /// The same of the text before, if it is on lines that are removed.
    pub removed: Option<(usize, usize)>,
    /// What it is on, for people: `lines 3 to 5`, `the file`.
    pub place: String,
    /// The words as they were typed, to be edited.
    pub text: String,
    /// The words as the agent reads them, with the line that is not there any more.
    pub says: String,
}

/// What one tab has seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SeenNow {
    /// For each hunk, true if all of it was on the screen of this tab.
    pub hunks: Vec<bool>,
    /// So many of them that would be accepted were not.
    pub unseen: usize,
    /// True if all of it was seen, and nothing else is to be known of it: `accept-seen` accepts it.
    pub whole: bool,
}

/// A diff that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gone {
    /// Its number.
    pub id: u64,
    /// What became of it, whole: `accepted src/a.rs`. Shown in the footer.
    pub words: String,
    /// The tab in which it was decided, if it was in one.
    pub tab: Option<String>,
    /// A text for the clipboard, where no agent takes the notes.
    pub clipboard: Option<String>,
    /// The diff that comes next: of the same set, or else the one after it.
    pub next: Option<u64>,
}

/// The agents and what they do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusNow {
    /// The names of the agents that are connected.
    pub agents: Vec<String>,
    /// The names of those whose turn goes on.
    pub working: Vec<String>,
    /// The rule by which they ask: `review: always`; none if no agent does as the person chooses.
    pub mode: Option<String>,
    /// Its word: `always`, `asked`, `after`; none where agents differ.
    pub choice: Option<String>,
    /// How agents ask, a sentence each.
    pub asking: Vec<String>,
    /// What does not work, a sentence each.
    pub warnings: Vec<String>,
    /// So many files that agents have written were seen by nobody.
    pub unseen: usize,
    /// What waits for agents, a sentence each.
    pub waiting: Vec<String>,
    /// What was decided last and what came of it.
    pub decided: Option<String>,
}

/// A sentence for the person, for the footer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The sentence, whole.
    pub text: String,
    /// `info`, `good` or `warning`.
    pub tone: Tone,
    /// True if it names a place to remember: it stays until the person does something.
    pub is_lasting: bool,
    /// The diff that it is about: it is said beside that.
    pub id: Option<u64>,
}

/// The kind of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Tone {
    /// For information.
    Info,
    /// Something is done.
    Good,
    /// Something needs care.
    Warning,
}

/// Which rows of a diff: `?g=4&layout=split&from=0&to=200&unfold=17.20.0,90.0.20`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RowsQuery {
    /// The generation.
    pub g: u64,
    /// The arrangement.
    pub layout: Layout,
    /// The first row.
    pub from: usize,
    /// The one after the last: 1,000 rows at most are sent at once.
    pub to: usize,
    /// `all`, or for each fold that is opened `LEFT.ABOVE.BELOW`: the `left` of the gap's [`Fold`], and so many more lines that are
    /// shown at its beginning and at its end, with commas between them. A file of which nothing is folded has no folds.
    pub unfold: String,
    /// True if lines are sent whole: otherwise no more than 10,000 units of each.
    pub long: bool,
    /// The number of rows that there were: something that is done with rows is refused if it is another one.
    pub total: Option<usize>,
}

/// Which line: `side=after&line=17` beside what names the arrangement.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RowOf {
    /// `before` or `after`.
    pub side: TextSide,
    /// The line.
    pub line: usize,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RowAt {
    /// The row of the line, or of the fold that hides it.
    pub row: Option<usize>,
}

/// Rows of a diff.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowsPage {
    /// The generation.
    pub g: u64,
    /// The number of all rows.
    pub total: usize,
    /// The first that is sent.
    pub from: usize,
    /// For each hunk, its rows: the first, and the one after the last. Sent with the first rows (`from` is 0) only.
    pub hunks: Vec<(usize, usize)>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row: exactly one of `same`, `changed`, `fold` and `note`, such as
/// `{"changed":{"hunk":0,"left":{"line":3,"text":"a b","words":[[2,3]]},"right":{"line":3,"text":"a c","words":[[2,3]]}}}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Row {
    /// An unchanged line.
    Same {
        /// Its line before.
        left: usize,
        /// The line after.
        right: Cell,
    },
    /// A changed line, or in split two of them side by side. Unified it has only one.
    Changed {
        /// The hunk.
        hunk: usize,
        /// The line before.
        #[serde(skip_serializing_if = "Option::is_none")]
        left: Option<Cell>,
        /// The line after.
        #[serde(skip_serializing_if = "Option::is_none")]
        right: Option<Cell>,
    },
    /// Unchanged lines that are not shown.
    Fold(Fold),
    /// A note of the person's, below the lines that it is on: its place in [`DiffState::remarks`].
    Note(usize),
}

/// Unchanged lines that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fold {
    /// The first of them before.
    pub left: usize,
    /// The first of them after.
    pub right: usize,
    /// Their number.
    pub lines: usize,
    /// The line before at which the whole gap between two hunks begins: the name of it in `unfold`.
    pub gap: usize,
}

/// A line of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Its line, from 0.
    pub line: usize,
    /// The text to show, without its end.
    pub text: String,
    /// What of it differs from its other version: first and after the last unit. Nothing if all or nothing does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(usize, usize)>,
    /// What of it stands for something that cannot be shown as it is, such as `⟨U+202E⟩`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(usize, usize)>,
    /// Where blanks at its end begin, if it was added with such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blanks: Option<usize>,
    /// It is moved: the line of it on the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<usize>,
    /// It ends otherwise than most: `no line end`, `CRLF`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    /// So many units are left out: `long=true` sends them. A line counts as seen only whole.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The syntax colours of lines, and what folds lie in. Rows come without them, and are drawn at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Colours {
    /// The generation.
    pub g: u64,
    /// By line before: parts as `[first, after the last, class]`, the class one of `comment`, `string`, `constant`, `keyword`,
    /// `function`, `type` and `name`. Lines without any are left out.
    pub left: BTreeMap<usize, Vec<(usize, usize, &'static str)>>,
    /// By line after.
    pub right: BTreeMap<usize, Vec<(usize, usize, &'static str)>>,
    /// By line after that comes after a fold: the function or section that it lies in, for people.
    pub within: BTreeMap<usize, String>,
}

/// Which text: `?g=4&side=after`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextQuery {
    /// The generation.
    pub g: u64,
    /// `before`, `after` (with every hunk in) or `accepted` (what would be accepted).
    pub side: TextSide,
    /// Only the lines of this hunk.
    pub hunk: Option<usize>,
    /// It is about to be edited.
    pub edits: bool,
    /// The line after at which the person is: of a file that is too large for a field, the lines about it are sent.
    pub line: usize,
}

/// One of the texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TextSide {
    /// The text before.
    Before,
    /// The text after, with every hunk in.
    After,
    /// What would be accepted.
    #[default]
    Accepted,
}

/// A text as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextAnswer {
    /// The generation.
    pub g: u64,
    /// The text.
    pub text: String,
    /// The lines of the accepted text that it is, if it is not all of that, and the place of the person's line among them.
    pub lines: Option<(usize, usize)>,
    /// See `lines`.
    pub at: usize,
    /// What was typed in its place and not sent, in a tab that is gone or in this one.
    pub typed: Option<String>,
    /// What of these cannot be seen in a field.
    #[serde(flatten)]
    pub unseeable: Unseeable,
}

/// What of a text cannot be seen in the field that it is typed in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unseeable {
    /// A sentence that names it with its lines; none if all can be seen.
    pub hidden: Option<String>,
}

/// Names a generation: `{"g":4}`.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct At {
    /// The generation.
    pub g: u64,
}

/// A hunk, or rows as they are shown: `{"g":4,"hunk":1}`, `{"g":4,"rows":{"layout":"split","from":7,"to":9,"unfold":""}}`.
#[derive(Debug, Clone, Deserialize)]
pub struct Lines {
    /// The generation.
    pub g: u64,
    /// The hunk.
    #[serde(default)]
    pub hunk: Option<usize>,
    /// The rows, with what they were asked for by.
    #[serde(default)]
    pub rows: Option<RowsQuery>,
}

/// A text in place of a hunk's lines after, or of the whole text that would be accepted.
#[derive(Debug, Clone, Deserialize)]
pub struct EditText {
    /// The generation that was edited.
    pub g: u64,
    /// The hunk; without it and `lines`, the file.
    #[serde(default)]
    pub hunk: Option<usize>,
    /// The lines that [`TextAnswer`] named.
    #[serde(default)]
    pub lines: Option<(usize, usize)>,
    /// The text: lines that are left as they were end as before, however they end here.
    pub text: String,
}

/// A note. An empty text deletes it. `{"g":4,"lines":[3,5],"text":"…"}`
#[derive(Debug, Clone, Deserialize)]
pub struct NoteText {
    /// The generation.
    pub g: u64,
    /// Lines of the text after, from 0: the first and the one after the last. Without it and `removed`, the file.
    #[serde(default)]
    pub lines: Option<(usize, usize)>,
    /// The same of the text before: lines that are removed.
    #[serde(default)]
    pub removed: Option<(usize, usize)>,
    /// The words.
    pub text: String,
}

/// What is being typed and was not sent: `{"n":3,"reason":"…"}`, or a note or an edit as it would be sent. It survives a reload and a crash,
/// and decides nothing.
#[derive(Debug, Clone, Deserialize)]
pub struct Typed {
    /// Counts in the tab: what has a smaller number than what came is older.
    #[serde(default)]
    pub n: u64,
    /// What it is.
    #[serde(flatten)]
    pub unsent: Unsent,
}

/// What is typed in which field.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unsent {
    /// The reason for a rejection.
    Reason(String),
    /// A field for a note is opened: that is on these lines from then on, whatever becomes of the text.
    Begun(NoteText),
    /// A note.
    Note(NoteText),
    /// A text, of which [`TextQuery`] said that it is edited.
    Edit(EditText),
}

/// What is being typed on a row of the list: `{"n":3,"note":"…"}`. It is kept, and goes with what is decided on that row.
#[derive(Debug, Clone, Deserialize)]
pub struct RowTyped {
    /// See [`Typed`].
    #[serde(default)]
    pub n: u64,
    /// What it is.
    #[serde(flatten)]
    pub unsent: RowUnsent,
}

/// What is typed in which field.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RowUnsent {
    /// The reason for taking it back.
    Reason(String),
    /// A note for the agent.
    Note(String),
}

/// The words on a row of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordsOn {
    /// The name of the turn or change.
    pub id: String,
    /// Its words: none if they were sent or deleted.
    #[serde(flatten)]
    pub words: ListedWords,
}

/// The list of what was written.
#[derive(Debug, Serialize)]
pub struct Turns<'a> {
    /// The list.
    #[serde(flatten)]
    pub list: &'a ChangesList,
    /// The words on its rows, by name.
    pub words: BTreeMap<&'a String, &'a ListedWords>,
}

/// Whether hunks of whitespace only are passed over.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Whitespace {
    /// True if they are.
    pub ignore: bool,
}

/// What an act came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The generation that is there now, or will be: a `diff` event says the rest.
    pub g: u64,
    /// A sentence for the footer, if there is something to say.
    pub message: Option<String>,
    /// Its kind.
    pub tone: Tone,
}

/// What this tab had on its screen for long enough: `{"g":4,"left":[[0,3]],"right":[[0,4]]}`, first and after the last line.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenLines {
    /// The generation.
    pub g: u64,
    /// Lines before.
    #[serde(default)]
    pub left: Vec<(usize, usize)>,
    /// Lines after.
    #[serde(default)]
    pub right: Vec<(usize, usize)>,
    /// As in [`HowSeen`]: also sent when the tab turns to another diff.
    #[serde(default)]
    pub drawn_ms: u64,
}

/// A decision.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecideNow {
    /// The generation that was on the screen.
    pub g: u64,
    /// The revision.
    pub revision: u32,
    /// What is decided.
    pub decision: Decision,
    /// The words to the agent that say why, if it is rejected.
    #[serde(default)]
    pub reason: String,
    /// How the person came to it.
    pub seen: HowSeen,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// What would be accepted is.
    Accept,
    /// It is rejected.
    Reject,
}

/// How a person came to a decision. Which lines they saw the server knows from `/seen`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HowSeen {
    /// Milliseconds from the second frame with this generation's rows, while the tab was visible, to the key; none if there was none.
    pub drawn_ms: Option<u64>,
    /// True if it was typed or clicked: `isTrusted`, and no repeat of a held key.
    pub typed: bool,
    /// Milliseconds before each decision since the last one that was sent, this one included.
    pub pauses_ms: Vec<u64>,
    /// True if it answers the question that the last ruling asked: another key than the one that decides.
    pub answers: bool,
}

/// The gate's ruling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ruled {
    /// True if it counts: `gone` comes, too.
    pub settled: bool,
    /// The code of a refusal: `notSeen`, `tooSoon`, `held`, `byAgent`, ….
    pub code: Option<String>,
    /// The sentence, whole.
    pub message: String,
    /// True if it asks: the same decision with `answers` counts once the person has read it.
    pub asks: bool,
    /// A text for the clipboard.
    pub clipboard: Option<String>,
}

/// Why something is refused, with a status of 400 or more.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// For the page: `stale`, `notPending`, `replaced`, `comparing`, `notUnderstood`, `session`, `byAgent`, `failed`, ….
    pub code: &'static str,
    /// For people: a sentence.
    pub message: String,
    /// With 409, what is there now, if the diff is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Box<DiffState>>,
}

/// What was found in the rows of all pending diffs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hits {
    /// In the order of the diffs and their lines; 1,000 at most.
    pub hits: Vec<Hit>,
    /// True if there are more.
    pub more: bool,
}

/// Where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The diff.
    pub id: u64,
    /// The generation that was searched.
    pub g: u64,
    /// `left` or `right`; a line that is the same on both is on the right.
    pub side: &'static str,
    /// The line.
    pub line: usize,
    /// The line before beside it, if it is the same on both: it may be in a fold.
    pub left: Option<usize>,
    /// The text to show, as in its row.
    pub text: String,
    /// Where in it.
    pub at: (usize, usize),
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRow {
    /// Its name: `accept`, `next-diff`.
    pub name: &'static str,
    /// Its keys as they are named: `a`, `Ctrl-F`, `space`, `↓`, `Shift-Tab`, `F1`.
    pub keys: Vec<String>,
    /// Where they hold: `diff`, `list`, `history`, `help`, `quit`, `question`, `notes`, `files`, `prompt`.
    pub places: &'static [Place],
    /// `free`, `typed` (no repeat, no paste) or `shown` (and the diff is on the screen).
    pub guard: Guard,
    /// Its word in the footer.
    pub hint: Option<&'static str>,
    /// What help says.
    pub help: &'static str,
}

/// An act on what was written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnAct {
    /// The revision of the turn or change that was on the screen.
    pub revision: Option<String>,
    /// Lines of the file as it is now, from 0, both included: the hunks that touch them; all without it.
    pub lines: Option<(u32, u32)>,
    /// The words to the agent that say why it is taken back.
    pub reason: String,
    /// Milliseconds for which the row has stood there as it is.
    pub rested_ms: Option<u64>,
    /// True if the person went to that row, or clicked it.
    pub is_chosen: bool,
}

/// When agents are to ask: `{"choice":"always"}`.
#[derive(Debug, Clone, Deserialize)]
pub struct Choose {
    /// `always`, `asked` or `after`.
    pub choice: pillion_protocol::ReviewChoice,
}

/// Lines that an agent is pointed to: those of a pending diff's file.
#[derive(Debug, Clone, Deserialize)]
pub struct Mention {
    /// The diff.
    pub id: u64,
    /// Lines of the file, from 0, both included.
    #[serde(default)]
    pub lines: Option<(u32, u32)>,
}

/// The former decisions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HistoryList {
    /// The decisions: 500 at most.
    pub items: Vec<HistoryRow>,
}

/// A former decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryRow {
    /// Its name: `d12`, `7.2`.
    pub id: String,
    /// The file.
    pub shown: String,
    /// What was decided.
    pub state: String,
    /// The agent.
    pub agent: String,
    /// The time since, in words.
    pub ago: String,
    /// `+3 -1`, or nothing.
    pub lines: String,
}

/// Pages to be read, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// The pages.
    pub pages: Vec<HistoryItem>,
    /// What people are told if there is none.
    pub none: &'static str,
}

/// A former decision, or a comparison, to be read and nothing else. `N` in the route is its place in the list, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryItem {
    /// Its name and what was decided, or what is compared.
    pub title: String,
    /// A unified diff, as it may be shown.
    pub lines: Vec<String>,
}
