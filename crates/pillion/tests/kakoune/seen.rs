//! What of a proposal was not on the screen is asked about before it is accepted.

use pillion_agent::Update;
use pillion_testkit::SOON;

use crate::world::World;

/// What is asked.
const ASKED: &str = "not been on the screen";

/// A file of so many lines, these of them others.
fn lines(count: usize, other: &[usize]) -> String {
    let line = |number| match other.contains(&number) {
        true => format!("other {number}\n"),
        false => format!("line {number}\n"),
    };
    (1..=count).map(line).collect()
}

each_kakoune! {
    fn what_was_not_on_the_screen_is_asked_about(version) {
        let wide = |end: &str| format!("\t{}{end}\n", "long ".repeat(60));
        for (before, after, asked, keys) in [
            ("short\n".to_owned(), "others\nmore\n".to_owned(), false, ""),
            (lines(200, &[]), lines(200, &[3, 150]), true, "150g"),
            (wide("old"), wide("new"), true, "gl"),
            ("a\nb\nc\nd\ne\n".to_owned(), "b\nc\ne\n".to_owned(), true, "ge"),
        ] {
            let world = World::open(version, &[("a.txt", &before)]);
            let kakoune = &world.kakoune;
            let path = world.home.workspace().join("a.txt");
            let mut gemini = world.gemini();
            for is_looked_at in [false, true] {
                gemini.propose(&path, &after);
                world.look();
                if is_looked_at && asked {
                    kakoune.input(keys);
                    // Then what is on the screen was written down, and is read before the decision.
                    kakoune.wait_until("the cursor", "%val{selection_desc}", |place| place != ["1.1,1.1"]);
                    kakoune.wait_value("%opt{pillion_rest}", "idle");
                }
                kakoune.input(":w<ret>");
                if asked && !is_looked_at {
                    kakoune.pane().wait_for(ASKED, SOON);
                    world.look();
                    kakoune.input(":w<ret>");
                }
                let outcome = gemini.outcome();
                assert_eq!(outcome, Update::accepted(path.display().to_string(), &after), "{keys}");
                kakoune.wait_value("%val{bufname}", "a.txt");
            }
            let debug = kakoune.text("*debug*");
            assert_eq!(debug.matches(ASKED).count(), usize::from(asked), "{keys}\n{debug}");
            kakoune.assert_no_errors();
        }
    }
}
