//! What a person can do, in one table: the command's name, its keys, where it holds, who may give it, and what help says of it.
//! A view draws its help and its footer from it and asks [`crate::keys`] what a key stands for; a menu or a button names an act.

use serde::Serialize;

/// A part of the review in which keys have meanings of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// The pending diff, or the page where there is none.
    Diff,
    /// The list of what agents have written.
    List,
    /// The former decisions.
    History,
    /// The page of all keys.
    Help,
    /// The question whether to leave.
    Quit,
    /// A question below the diff or the list, beside what holds there.
    Question,
    /// The list of the person's notes.
    Notes,
    /// The list of pending diffs, where words are typed to find one.
    Files,
    /// A line that is typed.
    Prompt,
}

/// Who may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Guard {
    /// Anything that types: it changes only what is visible.
    Free,
    /// A person: neither a paste nor a key that is held down.
    Typed,
    /// A person who has the diff on the screen.
    Shown,
}

/// A row of the table.
#[derive(Debug)]
pub struct Command {
    /// What it does.
    pub act: Act,
    /// Its name where keys are chosen.
    pub name: &'static str,
    /// Its keys, if the person has not chosen others.
    pub keys: &'static str,
    /// Where they mean it.
    pub places: &'static [Place],
    /// Who may give it.
    pub guard: Guard,
    /// Its word in the footer, if it has one, and how soon that gives way when there is no room.
    pub hint: Option<(&'static str, i8)>,
    /// What help says of it; commands that follow each other may share that.
    pub help: &'static str,
}

macro_rules! commands {
    ($([$($act:ident $(($first:literal: $type:ty))? $name:literal $keys:literal [$($place:ident)+] $guard:ident
        $(($word:literal, $rank:literal))? $help:literal;)+])+) => {
        /// What a person does, whatever key or button stands for it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the table says what each of them does")]
        pub enum Act { $($($act $(($type))?,)+)+ }

        /// All commands, in the groups in which help shows them.
        pub static GROUPS: &[&[Command]] = &[$(&[$(Command {
            act: Act::$act $(($first))?,
            name: $name,
            keys: $keys,
            places: &[$(Place::$place),+],
            guard: Guard::$guard,
            hint: [$(($word, $rank))?].as_slice().first().copied(),
            help: $help,
        }),+]),+];
    };
}

commands! {
    [
        Accept "accept" "a" [Diff] Typed ("accept", 0) "accept the proposal as shown";
        AcceptSeen "accept-seen" "A" [Diff] Typed ("accept seen", 4) "accept all diffs that you have seen";
        Reject "reject" "r" [Diff] Typed ("reject", 0) "reject it";
        Open "open" "Enter" [List History Notes] Free ("look", 0) "in the list: open";
        Keep "keep" "a" [List] Typed ("keep", 0) "in the list: keep";
        TakeBack "take-back" "r" [List] Typed ("take back", 0) "in the list: take back";
        Reason "reason" "R" [Diff List] Free ("with reason", 3) "reject, or take back, with a reason";
        Note "note" "C" [Diff List] Free ("note", 3) "note on hunk or line, sent as you decide";
        NoteFile "note-file" "F" [Diff] Free "note on the whole file";
        Notes "notes" "L" [Diff Notes] Free "list of your notes: Enter goes there";
        DeleteNote "delete-note" "d Delete" [Notes] Typed "in that list: delete the note";
        NextNote "next-note" "J" [Diff] Free "next note, in all pending diffs";
        EditWords "edit-words" "Ctrl-E" [Prompt] Typed "write what you type in $VISUAL or $EDITOR";
        Exclude "exclude" "space" [Diff] Shown ("exclude", 1) "exclude or include the hunk";
        Select "select" "V" [Diff] Free "select lines, to exclude or note them";
        Split "split" "s" [Diff] Shown "split the hunk above the cursor's line";
        Next "next" "n" [Diff List] Free ("hunk", 2) "what was not seen yet";
        Previous "previous" "p" [Diff] Free "previous hunk";
        Edit "edit" "e" [Diff] Shown ("edit", 2) "edit the proposal in $VISUAL or $EDITOR";
        OpenFile "open-file" "E" [Diff] Typed "open the file itself in that editor";
        Undo "undo" "z" [Diff List Notes] Shown ("undo", 4) "undo the last change; redo it";
        Redo "redo" "Z" [Diff List] Shown "undo the last change; redo it";
        Merge "merge" "o" [Diff] Shown "merge with the file on disk";
        Stage "stage" "+" [Diff List] Typed ("stage", 5) "put what was kept into git's index";
        Answer "answer" "y" [Question Quit] Typed "answer yes to a question";
        Stay "stay" "n" [Quit] Free "";
    ]
    [
        NextDiff "next-diff" "Tab" [Diff] Free ("next diff", 2) "next or previous pending diff";
        PreviousDiff "previous-diff" "Shift-Tab" [Diff] Free "next or previous pending diff";
        Digit(0: u8) "number" "1 2 3 4 5 6 7 8 9 0" [Diff] Free "pending diff of that number";
        Files "files" "f" [Diff] Free ("files", 4) "list of pending diffs; type to find one";
        Down "down" "Down j" [Diff List History Notes Help] Free "the next line, the one before";
        Up "up" "Up k" [Diff List History Notes Help] Free "the next line, the one before";
        PageDown "page-down" "PgDn Ctrl-F" [Diff List History Notes Help] Free "scroll by a page";
        PageUp "page-up" "PgUp Ctrl-B" [Diff List History Notes Help] Free "scroll by a page";
        HalfDown "half-down" "Ctrl-D" [Diff] Free "scroll by half a page";
        HalfUp "half-up" "Ctrl-U" [Diff] Free "scroll by half a page";
        Top "top" "g Home" [Diff List History Notes Help] Free "top, end; 12G is line 12";
        End "end" "G End" [Diff List History Notes Help] Free "top, end; 12G is line 12";
        Left "left" "Left h" [Diff] Free "scroll sideways";
        Right "right" "Right l" [Diff] Free "scroll sideways";
        FarRight "far-right" "$" [Diff] Free "scroll to the right end; 0 to the left";
        Search "search" "/" [Diff] Free ("search", 4) "search all diffs";
        SearchWord "search-word" "*" [Diff] Free "search for the word that changes here";
        PreviousHit "previous-hit" "N" [Diff] Free "previous hit; without a search, hunk";
        EndSearch "end-search" "Esc" [Diff] Free "end the search, or the selection";
        Line "line" ":" [Diff] Free "go to a line by its number";
    ]
    [
        Base "base" "d" [Diff History] Free "compare it with HEAD, an earlier text";
        Layout "layout" "u" [Diff] Free ("unified", 6) "unified, or side by side";
        More "more" "c" [Diff] Free ("unfold", 7) "20 more lines beside the hunk";
        Gap "gap" "Enter" [Diff] Free "all lines beside it, or fold them";
        Unfold "unfold" "x" [Diff] Free ("fold", 7) "unfold or fold all unchanged lines";
        Wrap "wrap" "w" [Diff] Free ("wrap", 8) "wrap long lines, or cut them";
        Copy "copy" "y" [Diff] Typed "copy the hunk; the path";
        CopyPath "copy-path" "Y" [Diff] Typed "copy the hunk; the path";
        Mouse "mouse" "M" [Diff List] Free "give the mouse to the terminal, or take it";
        Whitespace "whitespace" "i" [Diff] Free "skip hunks of whitespace only, or not";
        SendNotes "send-notes" "@" [Diff] Typed ("send notes", 1) "send your notes to the agent now";
        Mode "mode" "m" [Diff] Typed ("when to ask", 1) "show every change, or as the agent asks";
        View "view" "v" [Diff] Typed "view what was written without asking";
        History "history" "H" [Diff History] Free "history of what you decided";
        List "list" "S" [Diff List] Free ("what was written", 1) "list of what was written";
        Pane "pane" "t" [Diff List] Free "show or hide the lists beside the diff";
        Web "web" "b" [Diff List] Typed "open all this in your browser";
    ]
    [
        Help "help" "? F1" [Diff List History Notes Help] Free ("help", -1) "this help";
        Close "close" "Esc q" [List History Notes Help Quit] Free "close a page";
        Quit "quit" "q" [Diff] Typed ("quit", 3) "quit; pending diffs are rejected";
        Interrupt "interrupt" "Ctrl-C" [Diff List History Notes Help Quit Files] Free "quit, from any page";
        Suspend "suspend" "Ctrl-Z" [Diff List History Notes Help Quit Files Prompt] Free "suspend";
    ]
}

/// All commands, in the order of help.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().copied().flatten()
}

impl Act {
    /// Its row of the table.
    pub fn command(self) -> Option<&'static Command> {
        let row = match self {
            Self::Digit(_) => Self::Digit(0),
            act => act,
        };
        commands().find(|command| command.act == row)
    }

    /// Returns true if it may ask whether it is meant. Another key than its own answers.
    pub fn may_ask(self) -> bool {
        use Act::{Accept, AcceptSeen, Keep, Merge, Mode, Reject, TakeBack};
        matches!(
            self,
            Accept | AcceptSeen | Reject | Keep | TakeBack | Merge | Mode
        )
    }

    /// Returns true if its keys are everybody's: the terminal's own, and digits.
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Interrupt | Self::Suspend | Self::Digit(_))
    }
}
