//! An agent's command changes 20,000 files, as a checkout does, and a person judges all of them: meanwhile the hub answers
//! everybody.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pillion_view::ask::GetReview;
use pillion_view::changes::{ActDone, ChangesAct, Meant, Part};

use super::*;

const FILES: usize = 20_000;

/// So often everybody is answered in each step.
const ANSWERS: usize = 5;

/// Longer than any step takes, also on a busy machine.
const STEP: Duration = Duration::from_secs(300);

/// Somebody who asks again and again, and the time that the longest answer took.
#[derive(Default)]
struct Asker {
    answers: AtomicUsize,
    longest: Mutex<Duration>,
    is_over: AtomicBool,
}

impl Asker {
    fn answered(&self, asked: Instant) {
        self.answers.fetch_add(1, Ordering::SeqCst);
        let mut longest = self.longest.lock().unwrap();
        *longest = asked.elapsed().max(*longest);
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::SeqCst)
    }
}

const NAMES: [&str; 3] = ["a command", "an agent", "a view"];

/// Three who ask: a command, an agent, and a view.
struct Askers([Arc<Asker>; 3]);

impl Askers {
    fn start(world: &World, front: &Front, client: Client) -> Self {
        let all: [Arc<Asker>; 3] = Default::default();
        let [command, agent, view] = all.clone();
        let environment = world.environment.clone();
        thread::spawn(move || {
            while command.goes_on() {
                let asked = Instant::now();
                if !state::list(&environment).is_empty() {
                    command.answered(asked);
                }
            }
        });
        tokio::spawn(async move {
            while agent.goes_on() {
                let asked = Instant::now();
                let _ = client.close_diff("/not proposed").await;
                agent.answered(asked);
            }
        });
        let handle = front.handle.clone();
        tokio::spawn(async move {
            while view.goes_on() {
                let asked = Instant::now();
                let (sender, chosen) = oneshot::channel();
                handle.ask(
                    GetReview::default(),
                    Reply::new(move |it| drop(sender.send(it))),
                );
                let _ = chosen.await;
                view.answered(asked);
            }
        });
        Self(all)
    }

    /// Everybody is answered while this is done.
    #[expect(
        clippy::print_stderr,
        reason = "with --nocapture, one sees what takes how long"
    )]
    async fn during<T>(&self, what: &str, step: impl Future<Output = T>) -> T {
        let before = self.0.each_ref().map(|asker| {
            *asker.longest.lock().unwrap() = Duration::ZERO;
            asker.answers.load(Ordering::SeqCst)
        });
        let began = Instant::now();
        let done = timeout(STEP, step).await.unwrap();
        eprintln!("{what}: {:.1?}", began.elapsed());
        for ((asker, before), name) in self.0.iter().zip(before).zip(NAMES) {
            let longest = *asker.longest.lock().unwrap();
            let answers = asker.answers.load(Ordering::SeqCst) - before;
            eprintln!("  {name}: {answers} answers, the longest after {longest:.1?}");
            assert!(answers >= ANSWERS, "{name}, while {what}");
        }
        done
    }
}

impl Drop for Askers {
    fn drop(&mut self) {
        for asker in &self.0 {
            asker.is_over.store(true, Ordering::SeqCst);
        }
    }
}

impl Front {
    /// All changes of the list that are in this state, once there are as many as are listed.
    async fn listed(&self, state: &str) -> usize {
        loop {
            let list = self.changes().await;
            assert_eq!(list.problem, None);
            let changes = list.turns.iter().flat_map(|turn| &turn.changes);
            let found = changes.filter(|it| it.state == state).count();
            if found > 0 && found + list.left_out == FILES {
                return found;
            }
        }
    }

    async fn act(&self, act: ChangesAct) {
        let (sender, done) = oneshot::channel();
        let reply = Reply::new(move |it: Result<ActDone, _>| drop(sender.send(it)));
        self.handle.ask(act, reply);
        let done = done.await.unwrap().unwrap();
        assert!(done.done, "{}", done.message);
    }
}

fn write_all(root: &std::path::Path, text: &str) {
    for at in 0..FILES {
        let folder = root.join(format!("d{}", at % 7));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("f{at}.txt")), format!("{at}\n{text}\n")).unwrap();
    }
}

fn texts(root: &std::path::Path) -> Vec<String> {
    let path = |at: usize| root.join(format!("d{}/f{at}.txt", at % 7));
    let texts = (0..FILES).map(|at| std::fs::read_to_string(path(at)).unwrap());
    texts.collect()
}

#[tokio::test]
#[ignore = "in --all: takes minutes: cargo xtask test --all"]
async fn the_hub_answers_while_twenty_thousand_changes_are_recorded_and_judged() {
    let world = World::start();
    let root = world.root("w");
    write_all(&root, "one");
    let before = texts(&root);
    let front = world.attach(&["w"]).await;
    let (client, _updates) = world.connect(front.attached.port()).await;
    let askers = Askers::start(&world, &front, client);
    let work = |step| world.work(front.attached.port(), None, step);
    let begins = async {
        work(WorkStep::TurnBegins("a checkout".to_owned())).await;
        let call = ToolCall {
            id: "1".to_owned(),
            tool: "Bash".to_owned(),
            ..ToolCall::default()
        };
        work(WorkStep::CallBegins(call)).await;
    };
    askers.during("the turn begins", begins).await;
    let inner = root.clone();
    spawn_blocking(move || write_all(&inner, "two"))
        .await
        .unwrap();
    let after = texts(&root);
    let ends = async {
        work(WorkStep::CallEnds("1".to_owned())).await;
        work(WorkStep::TurnEnds).await;
        front.listed("unseen").await
    };
    let listed = askers.during("it is recorded and listed", ends).await;
    assert!(listed < FILES);
    let meant = Meant {
        id: Some("1".to_owned()),
        ..Meant::default()
    };
    let keep = front.act(ChangesAct::Keep(meant.clone()));
    askers.during("all is kept", keep).await;
    askers.during("it is listed", front.listed("kept")).await;
    let back = Part {
        meant,
        ..Part::default()
    };
    let back = front.act(ChangesAct::TakeBack(back));
    askers.during("all is taken back", back).await;
    assert!(texts(&root) == before);
    askers
        .during("it is listed", front.listed("taken back"))
        .await;
    let undo = front.act(ChangesAct::Undo(Some("1".to_owned())));
    askers.during("that is undone", undo).await;
    assert!(texts(&root) == after);
    drop(askers);
    front.leave().await;
    world.ends().await;
}
