//! Names of files are taken as they are: neither a pattern nor a command.

use pillion_testkit::client::Update;
use pillion_testkit::each_editor;

use crate::driver::Kind;
use crate::person::Person;

/// Names that editors, shells and terminals may take for something else.
const NAMES: [&str; 24] = [
    "[id].tsx",
    "%.txt",
    "a%b#c|d.txt",
    "#1 <sfile>",
    "a|call writefile([], 'PWNED')|.vim",
    "a|!touch PWNED",
    "`touch PWNED`.sh",
    "$(touch PWNED)",
    "$HOME.txt",
    "~",
    "sp ace'\"\\.rs",
    "-u",
    "+q!.txt",
    "new\nline.c",
    "\u{1b}]0;x\u{7}.py",
    "%{writefile([],'PWNED')}.js",
    "%sh{touch PWNED}.kak",
    "(delete-file \"a.txt\").el",
    "*.c",
    "{a,b}.go",
    "ünï 👩‍👩‍👧‍👦.txt",
    "tab\t.txt",
    "'><CR>:q.txt",
    "a.language-that-nobody-configured",
];

#[each_editor]
fn names_are_taken_as_they_are(kind: Kind) {
    let mut person = Person::new(kind);
    person.home.file("i.tsx", "i\n");
    for name in NAMES {
        person.path = person.home.workspace().join(name);
        person.propose("new\n");
        assert_eq!(person.editor.text(), "new\n", "{name:?}");
        person.editor.accept();
        let expected = Update::accepted(person.path.display().to_string(), "new\n");
        assert_eq!(person.gemini.outcome(), expected, "{name:?}");
        person.wait_gone();
        std::fs::write(&person.path, "old\n").unwrap();
        person.begin("newer\n");
        assert_eq!(person.withdraw(), "newer\n", "{name:?}");
    }
    for folder in [person.home.workspace(), person.home.home()] {
        assert!(!folder.join("PWNED").exists());
    }
    assert!(person.home.workspace().join("a.txt").exists());
    person.editor.assert_no_errors();
}
