//! A client that stays connected (tmux's control mode). Screens are asked for so often that a process for
//! each question would take more time than many a program that is tested.

use std::io::{BufRead, BufReader, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Ends when its input does, and with its server.
#[derive(Debug)]
pub struct Connection {
    client: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Connection {
    /// Attaches `tmux`, which has no command yet, to a session. It has no size that windows would take.
    pub fn open(mut tmux: Command, session: &str) -> Connection {
        tmux.args(["-C", "attach-session", "-f", "no-output,ignore-size"])
            .args(["-t", &format!("={session}:")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut client = tmux.spawn().expect("tmux runs the server already");
        let (commands, output) = (client.stdin.take(), client.stdout.take());
        Connection {
            client,
            commands: commands.expect("it is piped"),
            output: BufReader::new(output.expect("it is piped")),
        }
    }

    /// What a command prints. No argument has a quote or a line break.
    ///
    /// # Errors
    /// What it printed if it failed; or the server is gone.
    pub fn ask(&mut self, args: &[&str]) -> Result<String> {
        let is_quotable = |arg: &&str| !arg.contains(['\'', '\n']);
        debug_assert!(args.iter().all(is_quotable), "{args:?}");
        let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
        writeln!(self.commands, "{}", quoted.join(" "))?;
        let mut printed = Vec::new();
        let mut block = None::<Vec<u8>>;
        loop {
            let mut line = Vec::new();
            if self.output.read_until(b'\n', &mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let (word, rest) =
                line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
            match &block {
                // Of notifications, and of the command that attached it, nobody asked. The last number of a
                // command that came from here is 1.
                None if word == b"%begin" && rest.ends_with(b" 1\n") => {
                    block = Some(rest.to_owned())
                }
                None => {}
                Some(begun) if rest == begun && matches!(word, b"%end" | b"%error") => {
                    let text = String::from_utf8_lossy(&printed).into_owned();
                    return match word {
                        b"%end" => Ok(text),
                        _ => Err(std::io::Error::other(text)),
                    };
                }
                Some(_) => printed.extend(line),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}
