//! Guests: views that come for one proposal of another view's process, which here is this one.

use pillion_view::{DiffId, ProposalKey, StartError, attach_guest};

use super::*;

const OWN: fn() -> u32 = std::process::id;

impl World {
    fn guest_options(&self, editor_pid: u32, host: u32, key: ProposalKey) -> Options {
        Options {
            environment: self.environment.clone(),
            editor_pid,
            ide: IdeInfo::new("guest", "Guest"),
            roots: Vec::new(),
            shows: Shows::Only { host, key },
        }
    }

    async fn try_guest(&self, options: Options) -> Result<Front, StartError> {
        let (editor, stand_in) = stand_in();
        let attached = spawn_blocking(move || attach_guest(options, editor));
        let attached = timeout(SOON, attached).await.unwrap().unwrap()?;
        Ok(Front {
            handle: attached.handle(),
            attached,
            editor: stand_in,
        })
    }

    /// A guest in another editor.
    async fn guest(&self, key: ProposalKey) -> Front {
        let options = self.guest_options(1, OWN(), key);
        self.try_guest(options).await.unwrap()
    }

    /// Returns the editors and the roots that agents can find.
    fn published(&self) -> (Vec<Vec<u32>>, Vec<Vec<PathBuf>>) {
        let running = state::list(&self.environment).into_iter();
        running.map(|it| (it.editors(), it.roots)).unzip()
    }
}

async fn stopped(guest: &mut Front) {
    let event = guest.editor.next().await;
    assert!(matches!(event, EditorEvent::Stopped), "{event:?}");
}

#[tokio::test]
async fn a_guest_decides_what_it_came_for_and_agents_do_not_find_it() {
    let world = World::start();
    let mut host = world.attach(&["w"]).await;
    let (client, mut updates) = world.connect(host.attached.port()).await;
    let published = world.published();
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
    opened.unwrap();
    let mut guest = world.guest(diff.key()).await;
    assert!(guest.attached.files().is_empty());
    let same = guest.editor.show().await;
    assert_eq!((same.key(), &same.proposed), (diff.key(), &diff.proposed));
    assert_eq!(world.published(), published);
    guest
        .decide(Decide::blind(diff.key(), Outcome::accepted("edited")))
        .await;
    let Update::DiffAccepted { content, .. } = next_outcome(&mut updates).await else {
        panic!("it was accepted");
    };
    assert_eq!(content, "edited");
    let closed = host.editor.close("x").await;
    assert_eq!(closed, (diff.id, CloseReason::AcceptedElsewhere));
    assert_eq!(world.published(), published);
    // It is shown nothing else.
    let (opened, other) = tokio::join!(client.open_diff(&path, "y"), host.editor.show());
    opened.unwrap();
    assert_ne!(other.id, diff.id);
    assert!(guest.editor.is_idle());
    guest.leave().await;
    host.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn what_a_guest_wrote_is_kept_and_said_there_if_another_view_decides() {
    let world = World::start();
    let mut host = world.attach(&["w"]).await;
    let (client, _updates) = world.connect(host.attached.port()).await;
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
    opened.unwrap();
    let mut guest = world.guest(diff.key()).await;
    guest.editor.show().await;
    host.decide(Decide::blind(diff.key(), Outcome::Rejected))
        .await;
    let closed = guest.editor.close("mine").await;
    assert_eq!(closed, (diff.id, CloseReason::RejectedElsewhere));
    let EditorEvent::Lost(lost) = guest.editor.next().await else {
        panic!("nobody else has the text");
    };
    let pillion_view::LostText::Kept(kept) = lost.text else {
        panic!("{lost:?}");
    };
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "mine");
    host.leave().await;
    stopped(&mut guest).await;
    guest.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_guest_is_told_whether_it_is_in_the_editor_of_its_host() {
    let world = World::start();
    let mut host = world.attach(&["w"]).await;
    let (client, _updates) = world.connect(host.attached.port()).await;
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
    opened.unwrap();
    for (editor, expected) in [(OWN(), true), (1, false), (OWN() + 1, false)] {
        let options = world.guest_options(editor, OWN(), diff.key());
        let guest = world.try_guest(options).await.unwrap();
        assert_eq!(guest.attached.is_in_hosts_editor(), expected, "{editor}");
        guest.leave().await;
    }
    host.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_guest_for_what_is_not_there_is_refused_and_harms_nobody() {
    let world = World::start();
    let mut host = world.attach(&["w"]).await;
    let (client, _updates) = world.connect(host.attached.port()).await;
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
    opened.unwrap();
    let key = diff.key();
    let (id, revision) = (DiffId(9), 9);
    for (process, key, why) in [
        (OWN() + 1, key, "no view of process"),
        (OWN(), ProposalKey { id, ..key }, "no such diff"),
        (OWN(), ProposalKey { revision, ..key }, "a newer proposal"),
    ] {
        let options = world.guest_options(1, process, key);
        let refused = world.try_guest(options).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let options = world.guest_options(1, OWN(), key);
    let options = Options {
        environment: options.environment.with("PILLION_HUB", Some("off")),
        ..options
    };
    let refused = world.try_guest(options).await.map(drop);
    assert!(matches!(refused, Err(StartError::NoHub)), "{refused:?}");
    host.decide(Decide::blind(key, Outcome::Rejected)).await;
    host.leave().await;
    let options = world.guest_options(1, OWN(), key);
    let environment = world.environment.clone();
    world.ends().await;
    let (editor, _stand_in) = stand_in();
    let options = Options {
        environment,
        ..options
    };
    let refused = spawn_blocking(move || attach_guest(options, editor).map(drop));
    let refused = timeout(STOPS, refused).await.unwrap().unwrap();
    assert!(matches!(refused, Err(StartError::NoHub)), "{refused:?}");
}

#[tokio::test]
async fn a_guest_leaves_with_its_host_whoever_stays() {
    for stays in [false, true] {
        let world = World::start();
        let mut host = world.attach(&["w"]).await;
        let (client, _updates) = world.connect(host.attached.port()).await;
        let path = world.path("w/new");
        let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
        opened.unwrap();
        let mut guest = world.guest(diff.key()).await;
        guest.editor.show().await;
        let other = match stays {
            true => Some(world.attach(&["w"]).await),
            false => None,
        };
        host.leave().await;
        stopped(&mut guest).await;
        guest.leave().await;
        if let Some(mut other) = other {
            let shown = other.editor.show().await;
            assert_eq!(shown.id, diff.id, "it goes to the next view");
            other.leave().await;
        }
        world.ends().await;
    }
}

#[tokio::test]
async fn a_guest_is_not_served_by_the_next_hub() {
    let world = World::start();
    let mut host = world.attach(&["w"]).await;
    let (client, _updates) = world.connect(host.attached.port()).await;
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), host.editor.show());
    opened.unwrap();
    let mut guest = world.guest(diff.key()).await;
    guest.editor.show().await;
    world.stopper.stop();
    stopped(&mut guest).await;
    host.editor.close("x").await;
    spawn_blocking(move || world.hub.join().unwrap())
        .await
        .unwrap();
    let (_stopper, hub) = serve(&world.environment);
    let start = Instant::now();
    while state::list(&world.environment).is_empty() {
        assert!(start.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    guest.leave().await;
    host.leave().await;
    let world = World { hub, ..world };
    world.ends().await;
}
