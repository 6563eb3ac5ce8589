//! Reads a file line by line within limits, keeping at most the requested part of each line.

use std::io::{self, BufRead, BufReader, Read};
use std::time::Instant;

const CHUNK: usize = 64 * 1024;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadBudget {
    pub(crate) bytes: u64,
    pub(crate) until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineStep {
    /// A line, including its line break if it has one.
    Line,
    CutLine,
    End,
    Exhausted,
}

#[derive(Debug)]
pub(crate) struct BudgetedLines<R> {
    reader: BufReader<R>,
    budget: ReadBudget,
    line: Vec<u8>,
    scanned: u64,
}

impl<R: Read> BudgetedLines<R> {
    pub(crate) fn new(source: R, budget: ReadBudget) -> Self {
        let reader = BufReader::with_capacity(CHUNK, source);
        Self { reader, budget, line: Vec::new(), scanned: 0 }
    }

    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.scanned
    }

    /// Reads the next line and keeps at most `keep` bytes of it.
    pub(crate) fn advance(&mut self, keep: usize) -> io::Result<LineStep> {
        self.line.clear();
        let mut any = false;
        let mut cut = false;
        loop {
            let spent = self.scanned >= self.budget.bytes || Instant::now() >= self.budget.until;
            // The end of a file is reported even if the budget is spent.
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            if spent {
                return Ok(LineStep::Exhausted);
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(chunk.len(), |end| end + 1);
            let part = chunk.get(..used).unwrap_or_default();
            // A line of any length takes no more memory than `keep`.
            let room = keep.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            cut |= part.len() > room;
            self.reader.consume(used);
            self.scanned = self.scanned.saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
            if end.is_some() {
                break;
            }
        }
        Ok(match (any, cut) {
            (false, _) => LineStep::End,
            (true, false) => LineStep::Line,
            (true, true) => LineStep::CutLine,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::{any, proptest};

    use super::{BudgetedLines, LineStep, ReadBudget};

    fn plenty(bytes: u64) -> ReadBudget {
        ReadBudget { bytes, until: Instant::now() + Duration::from_mins(10) }
    }

    #[test]
    fn lines_are_cut_where_asked_and_the_rest_is_passed_over() {
        let mut lines = BudgetedLines::new(&b"short\nmuch too long\nend"[..], plenty(1000));
        let mut seen = Vec::new();
        loop {
            let step = lines.advance(6).unwrap();
            seen.push((step, String::from_utf8(lines.line().to_vec()).unwrap()));
            if step == LineStep::End {
                break;
            }
        }
        assert_eq!(
            seen,
            [
                (LineStep::Line, "short\n".to_owned()),
                (LineStep::CutLine, "much t".to_owned()),
                (LineStep::Line, "end".to_owned()),
                (LineStep::End, String::new()),
            ]
        );
    }

    #[test]
    fn a_line_without_end_stops_at_the_budget() {
        let mut lines = BudgetedLines::new(std::io::repeat(b'a'), plenty(1_000_000));
        assert_eq!(lines.advance(10).unwrap(), LineStep::Exhausted);
        assert!(lines.bytes_read() < 1_100_000, "read {}", lines.bytes_read());
    }

    proptest! {
        #[test]
        fn lines_put_together_are_the_file(bytes: Vec<u8>, repeat in any::<u8>()) {
            let file = bytes.repeat(usize::from(repeat));
            let mut lines = BudgetedLines::new(file.as_slice(), plenty(u64::MAX));
            let mut together = Vec::new();
            while lines.advance(usize::MAX).unwrap() == LineStep::Line {
                together.extend_from_slice(lines.line());
            }
            assert_eq!(together, file);
        }
    }
}
