//! Front ends whose folders come to overlap have one companion, as far as agents allow that.

use pillion_view::Tell;
use std::fs;

use super::*;
use crate::support::Other;

impl World {
    /// The roots of all companions.
    fn all_roots(&self) -> Vec<Vec<PathBuf>> {
        let running = state::list(&self.environment).into_iter();
        running.map(|it| it.roots).collect()
    }

    /// Waits until a companion has two roots.
    async fn is_listed(&self) {
        until("it is listed", || {
            self.all_roots().iter().any(|it| it.len() == 2)
        })
        .await;
    }
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < SOON, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_together(fronts: &[&Front]) -> bool {
    let ports: Vec<u16> = fronts.iter().map(|it| it.attached.port()).collect();
    ports.iter().all(|port| *port == ports[0])
}

/// Returns true if an agent that reads the files of this front end's companion finds it in the folder.
fn is_found(front: &Front, folder: &std::path::Path) -> bool {
    let folder = folder.to_str().unwrap();
    let files = front.attached.files();
    let texts: Vec<_> = files.iter().flat_map(fs::read_to_string).collect();
    assert!(!texts.is_empty());
    texts
        .iter()
        .any(|text| text.contains(&format!("{folder}\"")))
}

#[tokio::test]
async fn an_editor_that_opens_a_file_of_another_ones_project_joins_it() {
    let world = World::start();
    let mut first = world.attach(&["one"]).await;
    let mut second = world.attach(&["two"]).await;
    assert!(!is_together(&[&first, &second]));
    let roots = vec![world.root("two"), world.root("one")];
    second.handle.tell(Tell::Roots(roots));
    until("they are together", || is_together(&[&first, &second])).await;
    until("one companion", || world.all_roots().len() == 1).await;
    let (client, mut updates) = world.connect(first.attached.port()).await;
    let path = world.path("two/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), second.editor.show());
    opened.unwrap();
    second
        .decide(Decide::blind(diff.key(), Outcome::accepted("x")))
        .await;
    let outcome = next_outcome(&mut updates).await;
    assert!(
        matches!(outcome, Update::DiffAccepted { .. }),
        "{outcome:?}"
    );
    assert!(first.editor.is_idle() && second.editor.is_idle());
    first.leave().await;
    second.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_review_of_the_folder_around_two_projects_brings_their_editors_together() {
    let world = World::start();
    let one = world.attach(&["all/one"]).await;
    let two = world.attach(&["all/two"]).await;
    let three = world.attach(&["all/three"]).await;
    let review = world.attach_as(Shows::Always, &["all"]).await;
    let all = [&one, &two, &three, &review];
    until("they are together", || is_together(&all)).await;
    until("one companion", || world.all_roots().len() == 1).await;
    assert_eq!(world.all_roots()[0].len(), 4);
    for front in [one, two, three, review] {
        front.leave().await;
    }
    world.ends().await;
}

#[tokio::test]
async fn the_editor_whose_companion_has_no_agent_joins_the_other() {
    let world = World::start();
    let one = world.attach(&["one"]).await;
    let two = world.attach(&["two"]).await;
    let port = two.attached.port();
    let _agent = world.connect(port).await;
    two.handle
        .tell(Tell::Roots(vec![world.root("two"), world.root("one")]));
    until("they are together", || is_together(&[&one, &two])).await;
    assert_eq!(one.attached.port(), port, "the agent keeps its companion");
    one.leave().await;
    two.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn where_both_have_agents_one_of_them_serves_the_folder_until_an_agent_leaves() {
    let world = World::start();
    let one = world.attach(&["one"]).await;
    let two = world.attach(&["two"]).await;
    let _agent = world.connect(one.attached.port()).await;
    let (client, _updates) = world.connect(two.attached.port()).await;
    let (shared, own) = (world.root("one"), world.root("two"));
    two.handle
        .tell(Tell::Roots(vec![own.clone(), shared.clone()]));
    world.is_listed().await;
    until("it is withheld", || {
        is_found(&two, &own) && !is_found(&two, &shared)
    })
    .await;
    assert!(is_found(&one, &shared));
    assert!(!is_together(&[&one, &two]));
    // The editor that has both goes on there.
    client.disconnect().await.unwrap();
    until("they are together", || is_together(&[&one, &two])).await;
    until("it is found", || {
        is_found(&two, &own) && is_found(&two, &shared)
    })
    .await;
    one.leave().await;
    two.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn nobody_moves_while_a_proposal_waits_nor_one_that_has_told_its_port() {
    let world = World::start();
    let mut one = world.attach(&["one"]).await;
    let served = world.attach_as(Shows::Alone, &["two"]).await;
    let (client, mut updates) = world.connect(one.attached.port()).await;
    let ports = [one.attached.port(), served.attached.port()];
    let path = world.path("one/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), one.editor.show());
    opened.unwrap();
    one.handle
        .tell(Tell::Roots(vec![world.root("one"), world.root("two")]));
    world.is_listed().await;
    let shared = world.root("two");
    until("it is withheld", || !is_found(&one, &shared)).await;
    assert_eq!([one.attached.port(), served.attached.port()], ports);
    one.decide(Decide::blind(diff.key(), Outcome::accepted("x")))
        .await;
    next_outcome(&mut updates).await;
    client.disconnect().await.unwrap();
    until("they are together", || is_together(&[&one, &served])).await;
    assert_eq!(served.attached.port(), ports[1], "scripts know it");
    one.leave().await;
    served.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn an_agent_that_speaks_by_hooks_only_keeps_its_companion_until_it_has_ended() {
    let begins = || WorkStep::TurnBegins("do it".to_owned());
    let call = || {
        WorkStep::CallBegins(ToolCall {
            id: "1".to_owned(),
            tool: "Bash".to_owned(),
            ..ToolCall::default()
        })
    };
    for steps in [
        vec![begins()],
        vec![begins(), call()],
        vec![begins(), call(), WorkStep::TurnEnds],
    ] {
        let world = World::start();
        let one = world.attach(&["one"]).await;
        let two = world.attach(&["two"]).await;
        let (_client, _updates) = world.connect(one.attached.port()).await;
        let agent = Other::start();
        let ports = [one.attached.port(), two.attached.port()];
        for step in steps {
            world.work(ports[1], Some(agent.0.id()), step).await;
        }
        let shared = world.root("one");
        two.handle
            .tell(Tell::Roots(vec![world.root("two"), shared.clone()]));
        world.is_listed().await;
        until("it is withheld", || !is_found(&two, &shared)).await;
        assert_eq!([one.attached.port(), two.attached.port()], ports);
        drop(agent);
        until("they are together", || is_together(&[&one, &two])).await;
        assert_eq!(one.attached.port(), ports[0], "it has an agent");
        one.leave().await;
        two.leave().await;
        world.ends().await;
    }
}

#[tokio::test]
async fn an_editor_that_has_not_yet_told_the_text_of_a_proposal_stays() {
    let world = World::start();
    let one = world.attach(&["one"]).await;
    let mut two = world.attach(&["two"]).await;
    let port = two.attached.port();
    let (client, _updates) = world.connect(port).await;
    let path = world.path("two/new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "x"), two.editor.show());
    opened.unwrap();
    client.disconnect().await.unwrap();
    let EditorEvent::Close(_, _, closed) = two.editor.next().await else {
        panic!("the agent is gone");
    };
    // It would move, as it comes last.
    two.handle
        .tell(Tell::Roots(vec![world.root("two"), world.root("one")]));
    until("they are together", || is_together(&[&one, &two])).await;
    assert_eq!(two.attached.port(), port, "the other one has moved");
    closed.done("typed".to_owned());
    one.leave().await;
    two.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_companion_whose_folders_another_one_serves_has_no_files() {
    let world = World::start();
    let one = world.attach(&["one"]).await;
    let two = world.attach(&["two"]).await;
    let (_client, _updates) = world.connect(one.attached.port()).await;
    let (_other, _updates) = world.connect(two.attached.port()).await;
    let files = two.attached.files();
    let exist = || files.iter().all(|file| file.exists());
    assert!(exist() && !files.is_empty());
    for roots in [&["one"][..], &["one/below"], &["one", "one/below"]] {
        two.handle
            .tell(Tell::Roots(roots.iter().map(|it| world.root(it)).collect()));
        until("it is not found", || !files.iter().any(|it| it.exists())).await;
        assert!(is_found(&one, &world.root("one")));
        two.handle.tell(Tell::Roots(vec![world.root("two")]));
        until("it is found", || {
            exist() && is_found(&two, &world.root("two"))
        })
        .await;
    }
    one.leave().await;
    two.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_turn_that_is_told_by_hooks_ends_with_its_companion() {
    let world = World::start();
    let other = world.attach(&["other"]).await;
    let front = world.attach(&["w"]).await;
    let port = front.attached.port();
    let file = world.path("w/a.txt");
    world
        .work(port, None, WorkStep::TurnBegins("do it".to_owned()))
        .await;
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        tool: "Write".to_owned(),
        path: Some(file.clone().into()),
        ..ToolCall::default()
    };
    world
        .work(port, None, WorkStep::CallBegins(call("1")))
        .await;
    fs::write(&file, "x").unwrap();
    world
        .work(port, None, WorkStep::CallEnds("1".to_owned()))
        .await;
    world
        .work(port, None, WorkStep::CallBegins(call("2")))
        .await;
    front.leave().await;
    let again = world.attach(&["w"]).await;
    let list = again.changes().await;
    assert_eq!((list.turns.len(), list.problem), (1, None));
    assert!(list.turns[0].ended.is_some(), "{:?}", list.turns);
    for front in [other, again] {
        front.leave().await;
    }
    world.ends().await;
}
