//! The doubts that a proposal raises by itself, as a table: the gate's own tests run it, and so does the driver of every
//! view. Each is asked once, and the acceptance counts when it is repeated.

use std::path::{Path, PathBuf};

/// A proposal that is doubted when it is accepted as it came.
pub struct Doubted {
    /// For programs.
    pub code: &'static str,
    /// The first words of the question.
    pub question: &'static str,
    /// The name of the file, which lies in the workspace or beside it.
    pub file: &'static str,
    pub is_outside: bool,
    /// True if it has another name as well.
    pub has_other_name: bool,
    pub before: String,
    /// This is written to the file while the proposal is shown.
    pub meanwhile: Option<&'static str>,
    pub proposed: String,
    /// True if it has more changes than fit on a screen: only a view that knows what is on the screen asks about that.
    pub is_long: bool,
}

impl Doubted {
    /// The file, of which `workspace` is the folder.
    pub fn path(&self, workspace: &Path) -> PathBuf {
        let folder = match self.is_outside {
            true => workspace.parent().unwrap_or(workspace),
            false => workspace,
        };
        folder.join(self.file)
    }

    /// Writes the file as it is before.
    #[allow(dead_code, reason = "the gate's own tests look at no disk")]
    pub fn write(&self, workspace: &Path) {
        let path = self.path(workspace);
        std::fs::write(&path, &self.before).unwrap();
        if self.has_other_name {
            std::fs::hard_link(&path, workspace.with_extension("twin")).unwrap();
        }
    }
}

/// The rows.
pub fn doubted() -> Vec<Doubted> {
    let lines = |count: usize| {
        (0..count)
            .map(|line| format!("line {line}\n"))
            .collect::<String>()
    };
    let row = |code, question, file, before: &str, proposed: &str| Doubted {
        code,
        question,
        file,
        is_outside: false,
        has_other_name: false,
        before: before.to_owned(),
        meanwhile: None,
        proposed: proposed.to_owned(),
        is_long: false,
    };
    let long = lines(2000);
    let changed: String = long
        .lines()
        .map(|line| match line.ends_with("00") || line.ends_with("50") {
            true => format!("{line}, changed\n"),
            false => format!("{line}\n"),
        })
        .collect();
    vec![
        row(
            "deleted",
            "16 of the file's 22 lines",
            "deleted.txt",
            &lines(22),
            &lines(6),
        ),
        row(
            "runsCode",
            "your shell runs this file",
            ".envrc",
            "a=1\n",
            "a=2\n",
        ),
        row(
            "unreadable",
            "one line gets \u{fffd}",
            "coffee.txt",
            "caf\u{e9}\n",
            "caf\u{fffd}\n",
        ),
        Doubted {
            meanwhile: Some("by hand\n"),
            ..row(
                "fileChanged",
                "the file has changed on disk",
                "changed.txt",
                "old\n",
                "new\n",
            )
        },
        Doubted {
            is_outside: true,
            ..row(
                "outsideWorkspace",
                "this file is outside",
                "outside.txt",
                "old\n",
                "new\n",
            )
        },
        Doubted {
            has_other_name: true,
            ..row(
                "otherNames",
                "this file has other names",
                "linked.txt",
                "old\n",
                "new\n",
            )
        },
        Doubted {
            is_long: true,
            ..row(
                "unseenHunks",
                "39 changes have not been",
                "long.txt",
                &long,
                &changed,
            )
        },
    ]
}
