//! A client that stays connected (tmux's control mode): a process for each key and each look at a screen would
//! take more time than many a program that is tested.

use std::ffi::OsStr;
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
    /// Has `tmux`, which has no command yet, start a server with one session and a shell's command in it, and
    /// attaches to that session. It has no size, and one that says so would not keep windows from taking those of others that do.
    pub fn start(mut tmux: Command, session: &str, command: &str) -> Connection {
        tmux.args(["-C", "new-session", "-f", "no-output"])
            .args(["-s", session, command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let client = tmux.spawn();
        let mut client = client.expect("tmux must be installed (Debian: the package tmux)");
        let (commands, output) = (client.stdin.take(), client.stdout.take());
        Connection {
            client,
            commands: commands.expect("it is piped"),
            output: BufReader::new(output.expect("it is piped")),
        }
    }

    /// Runs a command, and returns its output.
    ///
    /// # Errors
    /// The output if it failed; or the server is gone.
    pub fn run(&mut self, args: &[&OsStr]) -> Result<String> {
        let quoted: Vec<Vec<u8>> = args.iter().map(|arg| quoted(arg)).collect();
        self.commands
            .write_all(&[&quoted.join(&b' ')[..], b"\n"].concat())?;
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

/// As one word of a command line, which ends with the line.
fn quoted(arg: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in arg.as_encoded_bytes() {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            b'\n' => quoted.extend(br#"'"\n"'"#),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}
