//! The limits on clients without a token: they are refused before anything is kept for them.

use crate::check::checks;
use crate::rule::Finding;
use crate::test_context::TestContext;

checks! {
    Access:
    Should "P3-body" => body,
        "A request without a token is refused before its body has come",
        "A program that cannot read the lock file could fill the companion's memory.";
    Should "P3-head" => head,
        "A request whose head does not end is refused",
        "A program that cannot read the lock file could fill the companion's memory.";
    Should "P3-crowd" => crowd,
        "Many clients without a token keep no agent out",
        "A program that cannot read the lock file could keep every agent from connecting.";
}

#[cfg(not(unix))]
use self::other::{body, crowd, head};
#[cfg(unix)]
use self::unix::{body, crowd, head};

#[cfg(unix)]
mod unix {
    use std::io;

    use pillion_protocol::Address;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;
    use tokio::time::timeout;

    use super::{Finding, TestContext};
    use crate::rule::{Otherwise, Problem, broken, unchecked};
    use crate::session::Session;

    /// The number of clients that say nothing.
    const CROWD: usize = 100;

    /// A head that no companion needs to keep.
    const LONG_HEAD: usize = 8 << 20;

    const START: &str =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

    async fn dial(test: &TestContext) -> Result<UnixStream, Problem> {
        let Address::Unix(path) = test.target.address() else {
            return unchecked("it has no socket");
        };
        UnixStream::connect(path).await.or_broken("connecting")
    }

    /// The first line of an answer, or that the connection is closed; nothing if there is neither in time.
    async fn refusal(test: &TestContext, stream: &mut UnixStream) -> Option<String> {
        let mut bytes = [0; 64];
        match timeout(test.timeouts.prompt, stream.read(&mut bytes)).await {
            Err(_) => None,
            Ok(Ok(0) | Err(_)) => Some("the connection is closed".to_owned()),
            Ok(Ok(count)) => {
                let text = String::from_utf8_lossy(&bytes[..count]);
                Some(text.lines().next().unwrap_or_default().to_owned())
            }
        }
    }

    pub(super) async fn body(test: &TestContext) -> Finding {
        test.has_sessions().await?;
        let mut stream = dial(test).await?;
        let start = format!("{START}Content-Length: 1000000\r\n\r\n{{");
        stream
            .write_all(start.as_bytes())
            .await
            .or_broken("it is not read")?;
        match refusal(test, &mut stream).await {
            Some(line) if line.contains(" 200 ") => broken(line),
            Some(line) => Ok(line),
            None => broken(format!("no answer within {:?}", test.timeouts.prompt)),
        }
    }

    pub(super) async fn head(test: &TestContext) -> Finding {
        test.has_sessions().await?;
        let mut stream = dial(test).await?;
        let endless = async {
            stream.write_all(START.as_bytes()).await?;
            let line = format!("X-Padding: {}\r\n", "x".repeat(1000));
            for _ in 0..LONG_HEAD / line.len() {
                stream.write_all(line.as_bytes()).await?;
            }
            Ok::<_, io::Error>(())
        };
        match timeout(test.timeouts.answer, endless).await {
            Ok(Err(_)) => return Ok("the connection is closed".to_owned()),
            Err(_) => {}
            Ok(Ok(())) => return broken(format!("{LONG_HEAD} bytes of it are read")),
        }
        // Nobody reads any more: an answer may wait.
        match refusal(test, &mut stream).await {
            Some(line) => Ok(line),
            None => broken("it is neither read nor refused"),
        }
    }

    pub(super) async fn crowd(test: &TestContext) -> Finding {
        test.has_sessions().await?;
        let mut crowd = Vec::new();
        for _ in 0..CROWD {
            // A companion may take no more of them.
            crowd.extend(
                timeout(test.timeouts.quiet, dial(test))
                    .await
                    .ok()
                    .transpose()?,
            );
        }
        let opened = Session::open(test).await;
        let among = crowd.len();
        let session = opened.or_broken(format_args!("among {among} silent clients"))?;
        session.leave().await;
        Ok(format!("served among {among} silent clients"))
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Finding, TestContext};
    use crate::rule::unchecked;

    /// No socket can be dialled here.
    async fn none() -> Finding {
        unchecked("this system has no Unix sockets")
    }

    pub(super) async fn body(_: &TestContext) -> Finding {
        none().await
    }

    pub(super) async fn head(_: &TestContext) -> Finding {
        none().await
    }

    pub(super) async fn crowd(_: &TestContext) -> Finding {
        none().await
    }
}
