//! From the start to the end of a companion (C6), and its files over time (C2.5).

use std::path::Path;
use std::time::{Duration, Instant};

use ::http::{Method, StatusCode};
use tokio::net::TcpStream;

use super::bench::Bench;
use super::rule::Group::Lifecycle;
use super::rule::Level::{Must, Should};
use super::rule::{Check, Finding, broken, check, unchecked};

pub(super) const CHECKS: &[Check] = &[
    check(
        Lifecycle,
        Must,
        "C6.1-answers",
        "Where a discovery file says that a companion is, one answers",
        |b| Box::pin(answers(b)),
    ),
    check(
        Lifecycle,
        Should,
        "C2.5-atomic",
        "A rewritten discovery file is whole at every moment",
        |b| Box::pin(async { whole_files(b) }),
    ),
    // The last: nothing can be looked at afterwards.
    check(
        Lifecycle,
        Must,
        "C6.2-port",
        "A companion that was stopped does not listen any more",
        |b| Box::pin(stopped_port(b)),
    ),
    check(
        Lifecycle,
        Must,
        "C6.2-files",
        "A companion that was stopped leaves no discovery file",
        |b| Box::pin(stopped_files(b)),
    ),
];

async fn answers(bench: &Bench) -> Finding {
    let port = bench.target.port();
    match bench.answers().await {
        Ok(()) => Ok(format!("port {port}")),
        Err(why) => broken(format!("nobody answers on port {port}: {why}")),
    }
}

fn whole_files(bench: &Bench) -> Finding {
    let watch = bench.watched();
    if let Some(why) = watch.flaw {
        return broken(why);
    }
    match watch.rewritten {
        0 => unchecked(
            "no file was rewritten meanwhile: open or close a workspace folder in the editor \
             while this runs",
        ),
        count => Ok(format!("rewritten {count} times")),
    }
}

async fn stopped_port(bench: &Bench) -> Finding {
    let until = Instant::now() + bench.stopped().await?;
    while TcpStream::connect(("127.0.0.1", bench.target.port()))
        .await
        .is_ok()
    {
        // Somebody else may have got the port, who does not know the token.
        let answer = bench.probe(Method::POST).body("{}");
        let answer = answer.send(bench.patience.answer).await;
        if answer.is_ok_and(|answer| answer.status == StatusCode::UNAUTHORIZED) {
            return Ok("somebody else has the port by now".to_owned());
        }
        if Instant::now() > until {
            return broken("it still listens");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok("nobody listens".to_owned())
}

async fn stopped_files(bench: &Bench) -> Finding {
    let until = Instant::now() + bench.stopped().await?;
    let left = || -> Vec<&Path> {
        let files = bench.target.files();
        files
            .filter(|file| file.symlink_metadata().is_ok())
            .collect()
    };
    while !left().is_empty() {
        if Instant::now() > until {
            let left: Vec<_> = left()
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            return broken(format!("still there: {}", left.join(", ")));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok("every file is gone".to_owned())
}
