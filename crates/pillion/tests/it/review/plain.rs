//! The review in lines, in a terminal that cannot place text and whose locale has no UTF-8.

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, Size};

use super::{REVIEWED, Review, TOO_EARLY};

impl Review {
    fn plain() -> Self {
        let mut env = Env::default();
        env.set("TERM", "dumb");
        env.set("LANG", "C");
        let review = Self::start(Size::new(100, 60), "--plain", &env);
        review.pane.wait_for("Waiting for an agent.", SOON);
        review
    }

    /// Types a line until that has come to this, and not too early: what was said of earlier ones stays.
    fn line(&self, line: &str, wanted: &str) {
        let refused = |screen: &str| {
            let count = |text: &&str| screen.matches(*text).count();
            TOO_EARLY.iter().map(count).sum::<usize>()
        };
        loop {
            std::thread::sleep(REVIEWED);
            let before = refused(&self.pane.screen());
            self.pane.type_text(line);
            self.pane.send_keys(["Enter"]);
            let answered = |screen: &str| screen.contains(wanted) || refused(screen) > before;
            let screen = self.pane.wait_until(wanted, SOON, answered);
            if screen.contains(wanted) {
                return;
            }
        }
    }
}

/// Of another file all is printed, also if its lines are those of the file before.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_lines_of_each_file_are_printed() {
    let review = Review::plain();
    let (one, two) = (review.connect(), review.connect());
    let path = |name: &str| review.path(name);
    one.propose(path("a.txt"), "1\ndanger\n");
    review.pane.wait_for("proposes a.txt", SOON);
    two.propose(path("b.txt"), "1\ndanger\n");
    review.pane.wait_for("b.txt", SOON);
    review.line("tab", "proposes b.txt");
    let twice = |screen: &str| screen.matches("+ danger").count() == 2;
    review.pane.wait_until("both", SOON, twice);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn lines_are_read_and_decided_as_a_screen_is() {
    let review = Review::plain();
    let mut agent = review.connect();
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\né\n";
    let after = before.replace('1', "one").replace('9', "nine");
    let path = review.sandbox.home.file("a.txt", before);
    let path = path.to_str().unwrap().to_owned();
    agent.propose(&path, &after);
    let screen = review.pane.wait_for("proposes a.txt", SOON);
    assert!(screen.is_ascii(), "{screen}");
    // Nobody has read it so soon.
    review.pane.send_keys(["a", "Enter"]);
    review.pane.wait_for("look at it", SOON);
    review.line("space", "excluded");
    review.line("a", "accepted a.txt");
    let half = before.replace('9', "nine");
    assert_eq!(agent.outcome(), Update::accepted(path.clone(), half));

    agent.propose(&path, "nothing\n");
    review.pane.wait_for("+1", SOON);
    // Who leaves the words sends none.
    review.line("R", "reject  Esc");
    review.pane.send_keys(["esc", "Enter"]);
    review.pane.wait_for("a accept  r reject", SOON);
    review.line("R use the table", "rejected a.txt");
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
    let says = |screen: &str| {
        let words: Vec<_> = screen.split_whitespace().collect();
        words.join(" ").contains("says: use the table")
    };
    review.pane.wait_until("the words", SOON, says);
    review.line("nonsense", "a line is one key");
    // A note waits for the agent.
    review.line("q", "y quit");
    review.pane.send_keys(["y", "Enter"]);
    review.pane.wait_for("exit code 0", SOON);
    // Nothing was done to the terminal.
    review.pane.wait_for(" icanon", SOON);
}

/// Lines that come together are pasted, whatever is on the screen.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn pasted_lines_decide_nothing() {
    let review = Review::plain();
    let mut agent = review.connect();
    let path = review.sandbox.home.file("a.txt", "1\n2\n");
    let path = path.to_str().unwrap().to_owned();
    agent.propose(&path, "1\ntwo\n");
    review.pane.wait_for("+ two", SOON);
    std::thread::sleep(REVIEWED);
    review.pane.paste("a\ny\n");
    review.pane.wait_for("pasted text decides nothing", SOON);
    let log = review.sandbox.run(["log"]).expect(0).stdout;
    assert!(!log.contains("accepted"), "{log}");
    review.line("a", "accepted a.txt");
    assert_eq!(agent.outcome(), Update::accepted(path, "1\ntwo\n"));
}
