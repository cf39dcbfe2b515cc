//! Reading lines from a connection: whole ones, no longer than allowed, by a deadline if there is one. Those who read from
//! whoever comes share a [`Budget`]: what all connections have begun together has a limit, too.

use std::io;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use pillion_protocol::diff::MAX_CONTENT;
use pillion_system::peer;

use crate::budget::{Budget, Share};
use crate::private_file::Stream;

/// The most that a message may have, in bytes: an original and a proposal, each of half a gigabyte, are more than anybody
/// reviews.
pub const MAX_LINE: usize = 1 << 30;

/// The most that a first one may have, which says who comes.
pub const MAX_FIRST: usize = 1 << 20;

/// The most that all connections which share a budget have begun: the longest text that anybody decides about, each of its
/// bytes escaped, and what is around it.
const MAX_BEGUN: usize = 6 * MAX_CONTENT + (16 << 20);

/// The bytes of each connection that take nothing of the budget, so that small requests find room at any time.
const FREE: usize = 16 << 10;

/// The time limit for a line that is begun, if it takes from the budget: whoever stops in the middle does not keep it.
const LINE_WITHIN: Duration = Duration::from_secs(30);

/// The budget of those who read from whoever comes.
pub fn budget() -> Budget {
    Budget::new(MAX_BEGUN)
}

/// The bytes that are read at once: few at first, because most messages are small, and ever more of a large one.
const FIRST_PIECE: usize = 4 << 10;
const LARGEST_PIECE: usize = 256 << 10;

/// The lines that come in.
#[derive(Debug)]
pub struct Lines {
    stream: Stream,
    /// The bytes that have come and are not read, from `start` on.
    buffer: Vec<u8>,
    start: usize,
    deadline: Option<Instant>,
    /// Its part of the budget, if there is one, and by when the line that takes from it has to be complete.
    share: Option<Share>,
    complete_by: Option<Instant>,
    /// True if reading has a time limit now.
    is_timed: bool,
}

impl Lines {
    /// Those of a connection. Each comes by this deadline, if there is one.
    pub fn new(stream: Stream, deadline: Option<Instant>) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            start: 0,
            deadline,
            share: None,
            complete_by: None,
            is_timed: false,
        }
    }

    /// The same within a budget: a line counts until the next one is asked for.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        let share = Some(budget.share());
        Self { share, ..self }
    }

    /// The next one comes within this time.
    pub fn wait_for(&mut self, time: Duration) {
        self.deadline = Some(Instant::now() + time);
    }

    /// From now on it takes as long as it takes.
    pub fn wait_for_ever(&mut self) {
        self.deadline = None;
    }

    /// Closes the connection, both ways.
    pub fn shut_down(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// The next line, without its end; none at the end of the connection.
    ///
    /// # Errors
    /// When it is longer than `limit`, does not come in time, there is no room for it, or the connection is broken.
    pub fn next(&mut self, limit: usize) -> io::Result<Option<Vec<u8>>> {
        self.complete_by = None;
        self.count()?;
        let mut searched = self.start;
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[searched..]);
            let length = match found {
                Some(at) => searched + at - self.start,
                None => self.buffer.len() - self.start,
            };
            if length > limit {
                let text = format!("a message of more than {limit} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            if found.is_some() {
                return Ok(Some(self.take(length)));
            }
            // What was read before goes, and what is left begins at 0.
            searched = length;
            if self.fill()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The line of this length, whose end is there.
    fn take(&mut self, length: usize) -> Vec<u8> {
        let end = self.start + length;
        if self.start == 0 && end + 1 == self.buffer.len() {
            // A big one mostly comes alone: of that there is no second copy.
            let mut line = std::mem::take(&mut self.buffer);
            line.truncate(end);
            return line;
        }
        let line = self.buffer[self.start..end].to_vec();
        self.start = end + 1;
        line
    }

    /// Takes from the budget what is there of lines that are not complete.
    fn count(&mut self) -> io::Result<()> {
        let Some(share) = &mut self.share else {
            return Ok(());
        };
        let counted = (self.buffer.len() - self.start).saturating_sub(FREE);
        if counted > 0 {
            self.complete_by
                .get_or_insert_with(|| Instant::now() + LINE_WITHIN);
        }
        match share.hold(counted) {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "too many long messages at once",
            )),
        }
    }

    /// The deadline for what is read next.
    fn time_limit(&mut self) -> io::Result<Option<Instant>> {
        let deadlines = [self.deadline, self.complete_by];
        let deadline = deadlines.into_iter().flatten().min();
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let left = left.map(|it| it.max(Duration::from_millis(1)));
        if left.is_some() || self.is_timed {
            self.stream.set_read_timeout(left)?;
        }
        self.is_timed = left.is_some();
        Ok(deadline)
    }

    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.start);
        self.start = 0;
        loop {
            let deadline = self.time_limit()?;
            let end = self.buffer.len();
            let piece = end.clamp(FIRST_PIECE, LARGEST_PIECE);
            self.buffer.resize(end + piece, 0);
            let read = peer::read(&self.stream, &mut self.buffer[end..]);
            self.buffer
                .truncate(end + read.as_ref().copied().unwrap_or_default());
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(0),
                Ok(_) if deadline.is_some_and(|at| at <= Instant::now()) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Ok(read) => {
                    self.count()?;
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn lines_are_the_same_wherever_they_are_cut(
            text in proptest::collection::vec("[a\n]{0,9}", 0..9),
        ) {
            let (mut here, there) = UnixStream::pair().unwrap();
            let mut lines = Lines::new(there, None);
            let mut read = Vec::new();
            for piece in &text {
                here.write_all(piece.as_bytes()).unwrap();
                lines.wait_for(Duration::ZERO);
                while let Ok(line) = lines.next(MAX_LINE) {
                    read.extend(line);
                }
            }
            lines.wait_for_ever();
            drop(here);
            while let Some(line) = lines.next(MAX_LINE).unwrap() {
                read.push(line);
            }
            let text = text.concat();
            let mut expected: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'\n').collect();
            // What has no end is no line.
            expected.pop();
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut lines = Lines::new(there, None);
        let long = "x".repeat(3 * LARGEST_PIECE);
        let text = format!("one\n\n{long}\ntwo\nno end");
        let writing = std::thread::spawn(move || {
            for piece in text.as_bytes().chunks(1000) {
                here.write_all(piece).unwrap();
            }
        });
        for expected in ["one", "", &long, "two"] {
            let line = lines.next(MAX_LINE).unwrap().unwrap();
            assert!(line == expected.as_bytes());
        }
        assert_eq!(lines.next(MAX_LINE).unwrap(), None);
        writing.join().unwrap();
    }

    #[test]
    fn the_beginning_of_a_line_may_come_with_the_one_before() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut lines = Lines::new(there, None);
        here.write_all(b"a longer one\nno").unwrap();
        let first = lines.next(MAX_LINE).unwrap();
        assert_eq!(first.as_deref(), Some(&b"a longer one"[..]));
        here.write_all(b"w\n").unwrap();
        assert_eq!(lines.next(MAX_LINE).unwrap().as_deref(), Some(&b"now"[..]));
    }

    #[test]
    fn lines_that_are_begun_take_from_one_budget_until_they_are_done_with() {
        let budget = Budget::new(100);
        let connect = || {
            let (here, there) = UnixStream::pair().unwrap();
            (here, Lines::new(there, None).within(&budget))
        };
        let ((mut here, mut lines), (mut other, mut others)) = (connect(), connect());
        let long = "x".repeat(FREE + 90);
        here.write_all(long.as_bytes()).unwrap();
        here.write_all(b"\n").unwrap();
        assert!(lines.next(MAX_LINE).unwrap().unwrap() == long.as_bytes());
        // It is still being handled.
        other.write_all(long.as_bytes()).unwrap();
        other.write_all(b"\nshort\n").unwrap();
        let kind = others.next(MAX_LINE).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::OutOfMemory);
        here.write_all(b"short\n").unwrap();
        assert_eq!(
            lines.next(MAX_LINE).unwrap().as_deref(),
            Some(&b"short"[..])
        );
        let next = others.next(MAX_LINE).unwrap();
        assert!(next.is_some_and(|line| line == long.as_bytes()));
        assert_eq!(
            others.next(MAX_LINE).unwrap().as_deref(),
            Some(&b"short"[..])
        );
        drop((lines, others));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_is_too_long_or_too_late_is_an_error() {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(b"12345\n123456").unwrap();
        let deadline = Instant::now() + Duration::from_millis(50);
        let mut lines = Lines::new(there, Some(deadline));
        assert_eq!(lines.next(5).unwrap().as_deref(), Some(&b"12345"[..]));
        assert_eq!(
            lines.next(5).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        let late = lines.next(9).unwrap_err().kind();
        assert!(matches!(
            late,
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        ));
    }
}
