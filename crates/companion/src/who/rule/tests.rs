//! The rule, by tables of lineages.

use pillion_system::lineage::Kin;
use pillion_system::process;

use super::*;
use crate::who::lineage::tests::{kin, lineage};

const GEMINI: Dialect = Dialect::GeminiCli;
const CLAUDE: Dialect = Dialect::ClaudeCode;

fn agent(agent: Dialect, pid: u32, started_at: u64) -> Agent {
    Agent {
        agent: Some(agent),
        process: AgentProcess { pid, started_at },
        login: None,
        session: None,
        since: 500,
        is_everybodys: false,
        above: Some(Vec::new()),
    }
}

fn known(agents: &[Agent]) -> Known {
    Known {
        agents: agents.to_vec(),
        ..Known::default()
    }
}

/// Gemini CLI is process 20, below a person's terminal that is older than it.
fn gemini() -> [Kin; 3] {
    [
        kin(20, 10, 500, "node gemini"),
        leader(kin(10, 9, 400, "bash")),
        kin(9, 1, 300, "xterm"),
    ]
}

fn leader(mut kin: Kin) -> Kin {
    kin.session = Some(kin.process.pid);
    kin.terminal = Some(7);
    kin
}

fn others(mut kin: Kin) -> Kin {
    kin.uid = Some(process::own_uid() + 1);
    kin
}

/// What is there to be looked at.
#[derive(Default)]
struct Seen {
    lineages: Vec<Lineage>,
    /// Of whoever is asked about but these themselves.
    displays: Option<Vec<u32>>,
    /// Attached to whoever is asked about but itself.
    attached: Option<u32>,
    /// True if those have opened their children's terminals.
    opened: bool,
}

impl Look for Seen {
    fn lineage(&self, pid: u32) -> Lineage {
        let is_it = |it: &&Lineage| it.first().is_some_and(|kin| kin.process.pid == pid);
        self.lineages
            .iter()
            .find(is_it)
            .cloned()
            .unwrap_or_default()
    }

    fn displays(&self, lineage: &Lineage) -> Option<Vec<u32>> {
        let is_one = |own: &Vec<u32>| {
            let first = lineage.first().map(|kin| kin.process.pid);
            first.is_some_and(|pid| own.contains(&pid))
        };
        self.displays.clone().filter(|own| !is_one(own))
    }

    fn attached(&self, lineage: &Lineage) -> Vec<u32> {
        let is_other = |pid: &u32| lineage.first().is_none_or(|kin| kin.process.pid != *pid);
        self.attached.into_iter().filter(is_other).collect()
    }

    fn has_opened(&self, _: &Kin, _: u64) -> bool {
        self.opened
    }
}

fn of(found: &[Kin], known: &Known) -> Result<(), Stranger> {
    judge(&lineage(found, &[]), &[], None, known, &Seen::default())
}

#[test]
fn a_process_below_an_agent_speaks_for_it_however_many_are_between() {
    let known = known(&[agent(GEMINI, 20, 500), agent(CLAUDE, 30, 500)]);
    let below = |above: &[Kin]| {
        let between = [
            kin(42, 41, 1200, "pillion keep"),
            kin(41, 20, 1100, "timeout"),
        ];
        of(&[&between, above].concat(), &known)
    };
    assert_eq!(below(&gemini()), Err(Stranger::Agent(GEMINI)));
    assert_eq!(
        of(&gemini(), &known),
        Err(Stranger::Agent(GEMINI)),
        "itself"
    );
    // Beside it in the same terminal is the person.
    let [_, shell, terminal] = gemini();
    let command = kin(43, 10, 1200, "pillion keep");
    assert_eq!(
        of(&[command.clone(), shell.clone(), terminal.clone()], &known),
        Ok(())
    );
    let again = kin(20, 10, 900, "pillion keep");
    assert_eq!(
        of(&[again, shell, terminal], &known),
        Ok(()),
        "its number was given again"
    );
    assert_eq!(of(&[], &known), Err(Stranger::Unknown), "it is gone");
}

#[test]
fn a_shell_that_a_script_starts_after_the_agent_is_the_persons() {
    let script = leader(kin(20, 10, 500, "bash -c codex; bash -i"));
    let known = known(&[agent(CLAUDE, 20, 500), agent(CLAUDE, 30, 510)]);
    let above = [script, kin(10, 1, 400, "tmux")];
    let below = |between: &[Kin]| {
        let command = [kin(50, 49, 900, "pillion keep")];
        of(&[&command, between, &above[..]].concat(), &known)
    };
    assert_eq!(below(&[kin(40, 20, 800, "bash -i")]), Ok(()));
    let refused = Err(Stranger::Agent(CLAUDE));
    assert_eq!(below(&[]), refused, "the script itself");
    let became = leader(kin(20, 10, 500, "bash"));
    let command = kin(50, 20, 900, "pillion keep");
    let typed = [command, became, kin(10, 1, 400, "tmux")];
    assert_eq!(of(&typed, &known), Ok(()), "exec bash");
    assert_eq!(below(&[kin(40, 20, 800, "sh -c pillion keep")]), refused);
    let of_agent = [kin(40, 30, 800, "bash -i"), kin(30, 20, 510, "codex")];
    assert_eq!(below(&of_agent), refused, "the agent's own");
}

#[test]
fn an_agents_variable_in_any_process_above_is_the_agents_unless_all_views_have_it() {
    let found = [kin(43, 42, 1200, "pillion keep"), kin(42, 1, 1100, "sh")];
    let mut known = known(&[]);
    let asker = lineage(&found, &[(42, CLAUDE)]);
    let judge =
        |says: &[Dialect], known: &Known| judge(&asker, says, None, known, &Seen::default());
    assert_eq!(judge(&[], &known), Err(Stranger::Agent(CLAUDE)));
    known.inherited = vec![CLAUDE];
    assert_eq!(judge(&[], &known), Ok(()));
    assert_eq!(
        judge(&[GEMINI], &known),
        Err(Stranger::Agent(GEMINI)),
        "as it says"
    );
}

#[test]
fn an_orphan_needs_evidence_that_an_agent_cannot_make() {
    let known = known(&[agent(GEMINI, 20, 500)]);
    let orphan = |top: Kin| of(&[kin(50, 49, 1300, "pillion keep"), top], &known);
    let young = kin(49, 1, 1200, "sh");
    assert_eq!(orphan(young.clone()), Err(Stranger::Unknown));
    assert_eq!(
        orphan(kin(49, 1, 499, "sh")),
        Ok(()),
        "older than all agents"
    );
    assert_eq!(
        orphan(kin(49, 1, 501, "sh")),
        Err(Stranger::Unknown),
        "left behind before the agent was known"
    );
    // `exec -a -bash`, `script`, a double fork with a terminal of its own.
    let forged = [kin(49, 1, 1200, "-bash"), leader(young.clone())];
    for top in forged {
        assert_eq!(orphan(top), Err(Stranger::Unknown));
    }
    let scripted = [
        kin(50, 49, 1300, "pillion keep"),
        leader(kin(49, 48, 1250, "sh")),
        kin(48, 1, 1200, "script"),
    ];
    assert_eq!(of(&scripted, &known), Err(Stranger::Unknown));
    // A login: its parent is another user's.
    let login = |shell: Kin| {
        let above = [shell, others(kin(48, 1, 1200, "sshd"))];
        of(
            &[&[kin(50, 49, 1300, "pillion keep")], &above[..]].concat(),
            &known,
        )
    };
    assert_eq!(login(kin(49, 48, 1250, "-bash")), Ok(()));
    assert_eq!(login(leader(kin(49, 48, 1250, "bash"))), Ok(()));
    assert_eq!(login(kin(49, 48, 1250, "sh")), Err(Stranger::Unknown));
    // Whoever enters a container.
    assert_eq!(orphan(leader(kin(49, 0, 1200, "bash"))), Ok(()));
}

#[test]
fn a_terminal_is_enough_in_a_login_that_no_agent_descends_from() {
    let of_login = |login, mut kin: Kin| {
        kin.login = login;
        kin
    };
    let command = || kin(50, 49, 1300, "pillion keep");
    let typed = |login| [command(), of_login(login, leader(kin(49, 1, 1200, "mosh")))];
    for (agents, own, expected) in [
        (Some(3), Some(4), Ok(())),
        (Some(3), Some(3), Err(Stranger::Unknown)),
        (Some(3), None, Err(Stranger::Unknown)),
        (None, Some(4), Err(Stranger::Unknown)),
        (None, None, Err(Stranger::Unknown)),
    ] {
        let known = known(&[Agent {
            login: agents,
            ..agent(GEMINI, 20, 500)
        }]);
        assert_eq!(of(&typed(own), &known), expected, "{agents:?} {own:?}");
        let scheduled = [command(), of_login(own, kin(49, 1, 1200, "sh"))];
        assert_eq!(of(&scheduled, &known), Err(Stranger::Unknown));
    }
}

#[test]
fn what_is_below_the_persons_view_or_beside_it_is_the_persons() {
    let mut known = known(&[agent(GEMINI, 20, 500)]);
    let editor = [kin(60, 1, 1100, "gvim")];
    known.views = vec![lineage(
        &[&[kin(61, 60, 1110, "pillion lsp")], &editor[..]].concat(),
        &[],
    )];
    let command = kin(62, 60, 1200, "pillion keep");
    let found = [std::slice::from_ref(&command), &editor[..]].concat();
    assert_eq!(of(&found, &known), Ok(()));
    let elsewhere = [command, kin(60, 1, 1150, "sh")];
    assert_eq!(
        of(&elsewhere, &known),
        Err(Stranger::Unknown),
        "the number was given again"
    );
    // What adopts processes is nobody's parent.
    let manager = kin(3, 1, 10, "/usr/lib/systemd/systemd --user");
    known.views = vec![lineage(
        &[kin(61, 3, 1110, "pillion"), manager.clone()],
        &[],
    )];
    let orphan = [kin(63, 3, 1200, "pillion keep"), manager];
    assert_eq!(of(&orphan, &known), Err(Stranger::Unknown));
}

#[test]
fn an_agent_that_has_started_everything_here_proves_nothing() {
    let mut known = known(&[Agent {
        is_everybodys: true,
        ..agent(GEMINI, 20, 500)
    }]);
    let below = [&[kin(43, 20, 1200, "pillion keep")], &gemini()[..]].concat();
    assert_eq!(of(&below, &known), Ok(()));
    known.agents.push(agent(CLAUDE, 43, 1200));
    assert_eq!(of(&below, &known), Err(Stranger::Agent(CLAUDE)));
}

#[test]
fn where_sessions_are_not_told_only_agents_are_known() {
    let known = known(&[agent(GEMINI, 20, 500)]);
    let untold = |mut kin: Kin| {
        kin.session = None;
        kin
    };
    let orphan = [untold(kin(50, 1, 1300, "pillion keep"))];
    assert_eq!(of(&orphan, &known), Ok(()));
    let below = [
        untold(kin(50, 20, 1300, "pillion keep")),
        untold(kin(20, 1, 500, "gemini")),
    ];
    assert_eq!(of(&below, &known), Err(Stranger::Agent(GEMINI)));
}

/// The evidence of the list at the head of the rule, for a command and for a view: each kind by itself, beside an agent that is
/// older and was known before all of it.
#[test]
fn each_kind_of_evidence_is_enough_by_itself() {
    let agent = |session| Agent {
        login: Some(3),
        session: Some(session),
        ..agent(GEMINI, 20, 500)
    };
    let command = || kin(50, 49, 1300, "pillion");
    let young = || kin(49, 1, 1200, "sh");
    let orphan = || vec![command(), young()];
    let above_editor = || vec![kin(60, 49, 1300, "pillion lsp"), young()];
    let first = |started_at| lineage(&[leader(kin(1, 1, started_at, "emacs"))], &[]);
    let client = |started_at| lineage(&[kin(70, 1, started_at, "tmux")], &[]);
    let attached = |started_at| Seen {
        lineages: vec![client(started_at)],
        attached: Some(70),
        ..Seen::default()
    };
    let of_login = |login| {
        let terminal = leader(kin(49, 1, 1200, "bash"));
        vec![
            command(),
            Kin {
                login: Some(login),
                ..terminal
            },
        ]
    };
    let window = |servers: Vec<Kin>| Seen {
        displays: Some(servers.iter().map(|kin| kin.process.pid).collect()),
        lineages: servers
            .into_iter()
            .map(|kin| lineage(&[kin], &[]))
            .collect(),
        ..Seen::default()
    };
    let server = |started_at| kin(80, 1, started_at, "Xwayland");
    let of_root = |login| Kin {
        login,
        ..others(kin(81, 1, 1200, "Xorg"))
    };
    let session = |started_at| Seen {
        lineages: vec![first(started_at)],
        ..Seen::default()
    };
    let unseen = Seen::default;
    let refused = [false, false];
    for (what, asker, views, agent, look, [command, view]) in [
        ("an orphan", orphan(), vec![], agent(2), unseen(), refused),
        (
            "a helper of before the agent was known",
            vec![command(), kin(49, 1, 499, "sh")],
            vec![],
            Agent {
                process: AgentProcess {
                    pid: 20,
                    started_at: 100,
                },
                ..agent(2)
            },
            unseen(),
            [false, true],
        ),
        (
            "older than the agent",
            vec![command(), kin(49, 1, 99, "sh")],
            vec![],
            agent(2),
            unseen(),
            [true, true],
        ),
        (
            "beside a view",
            orphan(),
            above_editor(),
            agent(2),
            unseen(),
            [true, true],
        ),
        (
            "a terminal of its own (pty)",
            of_login(3),
            vec![],
            agent(2),
            unseen(),
            refused,
        ),
        (
            "another login",
            of_login(4),
            vec![],
            agent(2),
            unseen(),
            [true, true],
        ),
        (
            "a window on a display that is older",
            orphan(),
            vec![],
            agent(2),
            window(vec![server(99)]),
            [true, true],
        ),
        (
            "one on a display that the agent may have made",
            orphan(),
            vec![],
            agent(2),
            window(vec![server(1200)]),
            refused,
        ),
        (
            "one that may be on either",
            orphan(),
            vec![],
            agent(2),
            window(vec![server(99), kin(82, 1, 1200, "x")]),
            refused,
        ),
        (
            "one on another user's display",
            orphan(),
            vec![],
            agent(2),
            window(vec![of_root(None)]),
            [true, true],
        ),
        (
            "one on that of a setuid program in the agent's login",
            orphan(),
            vec![],
            agent(2),
            window(vec![of_root(Some(3))]),
            refused,
        ),
        (
            "one on a display that is not shown here",
            orphan(),
            vec![],
            agent(2),
            window(vec![]),
            [true, true],
        ),
        (
            "an attached client (tmux)",
            orphan(),
            vec![],
            agent(2),
            attached(99),
            [true, true],
        ),
        (
            "an agent's client",
            orphan(),
            vec![],
            agent(2),
            attached(1250),
            refused,
        ),
        (
            "the session's leader",
            orphan(),
            vec![],
            agent(2),
            session(99),
            [true, true],
        ),
        (
            "a young session",
            orphan(),
            vec![],
            agent(2),
            session(1100),
            refused,
        ),
        (
            "a session with an agent",
            orphan(),
            vec![],
            agent(1),
            session(99),
            refused,
        ),
    ] {
        let known = Known {
            views: vec![lineage(&views, &[])],
            ..known(&[agent])
        };
        let asker = lineage(&asker, &[]);
        for (is_view, is_persons) in [(false, command), (true, view)] {
            let judged = judge(&asker, &[], is_view.then_some(99), &known, &look);
            let expected = is_persons.then_some(()).ok_or(Stranger::Unknown);
            assert_eq!(judged, expected, "{what}, a view: {is_view}");
        }
    }
}

/// A view says which editor it belongs to. Below it is nobody, and in its session an agent was.
#[test]
fn what_an_agent_left_behind_belongs_to_no_shell_and_to_no_older_editor() {
    let agent = |session| Agent {
        session,
        ..agent(GEMINI, 20, 500)
    };
    let own = lineage(&[kin(50, 1, 1300, "pillion kakoune")], &[]);
    for (session, editor, may_be) in [
        (Some(1), kin(60, 10, 1200, "kak"), true),
        (Some(1), kin(60, 10, 499, "kak"), false),
        (Some(1), kin(60, 10, 1200, "bash"), false),
        (None, kin(60, 10, 499, "kak"), false),
        (Some(2), kin(60, 10, 499, "kak"), true),
    ] {
        let known = known(&[agent(session)]);
        let command = editor.process.command.clone();
        let editor = lineage(&[editor], &[]);
        assert_eq!(
            known.may_have_started(&editor, &own),
            may_be,
            "{session:?} {command}"
        );
        assert!(!known.may_have_started(&Lineage::default(), &own));
    }
}

/// A session manager, in a session of its own, has started a terminal in which the agent is, and a command.
#[test]
fn what_is_above_the_agent_may_have_adopted_what_began_a_session() {
    let manager = Kin {
        session: Some(9),
        ..kin(9, 1, 300, "lxqt-session")
    };
    let of = |pid| AgentProcess {
        pid,
        started_at: 300,
    };
    let command = |session| Kin {
        session: Some(session),
        ..kin(50, 9, 900, "pillion keep")
    };
    let typed = leader(kin(50, 9, 900, "bash"));
    let plugin = kin(51, 9, 400, "pillion lsp");
    let above = Some(vec![of(10), of(9)]);
    let refused = Err(Stranger::Unknown);
    let unseen = Seen::default;
    for (what, child, above, view, editor, look, expected) in [
        (
            "adopted",
            command(50),
            &above,
            None,
            None,
            unseen(),
            refused,
        ),
        (
            "in its session",
            command(9),
            &above,
            None,
            None,
            unseen(),
            Ok(()),
        ),
        (
            "above no agent",
            command(50),
            &Some(Vec::new()),
            None,
            None,
            unseen(),
            Ok(()),
        ),
        (
            "of an agent that has ended",
            command(50),
            &None,
            None,
            None,
            unseen(),
            refused,
        ),
        (
            "its view's",
            command(50),
            &above,
            None,
            Some(9),
            unseen(),
            Ok(()),
        ),
        (
            "another view's",
            command(50),
            &above,
            None,
            Some(8),
            unseen(),
            refused,
        ),
        (
            "it starts views",
            command(50),
            &above,
            Some(plugin),
            None,
            unseen(),
            Ok(()),
        ),
        (
            "a terminal of another's",
            typed.clone(),
            &above,
            None,
            None,
            unseen(),
            refused,
        ),
        (
            "a terminal of its own",
            typed,
            &above,
            None,
            None,
            Seen {
                opened: true,
                ..unseen()
            },
            Ok(()),
        ),
        (
            "a multiplexer",
            command(50),
            &above,
            None,
            None,
            Seen {
                attached: Some(7),
                ..unseen()
            },
            Ok(()),
        ),
    ] {
        let view: Vec<_> = { view.into_iter() }
            .map(|it| lineage(&[it, manager.clone()], &[]))
            .collect();
        let known = Known {
            views: view,
            ..known(&[Agent {
                above: above.clone(),
                ..agent(GEMINI, 20, 500)
            }])
        };
        let asker = lineage(&[child, manager.clone()], &[]);
        assert_eq!(
            judge(&asker, &[], editor, &known, &look),
            expected,
            "{what}"
        );
    }
}
