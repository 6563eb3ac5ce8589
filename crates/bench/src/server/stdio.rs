//! The server over pipes: one thread, one write for everything that one read brought.

use std::io::{Read as _, Write as _};

use super::answer::RawAnswers;
use crate::error::Result;

const READ_BYTES: usize = 256 << 10;

/// Answers until the input ends.
pub(super) fn serve(answers: &RawAnswers) -> Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = raw_output()?;
    let mut buffer = vec![0; READ_BYTES];
    let mut filled = 0;
    let mut searched = 0;
    let mut out = Vec::new();
    loop {
        if buffer.len() - filled < READ_BYTES / 2 {
            buffer.resize(buffer.len() * 2, 0);
        }
        let Some(room) = buffer.get_mut(filled..) else { return Ok(()) };
        let read = input.read(room)?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut start = 0;
        while let Some(length) =
            buffer.get(searched..filled).and_then(|fresh| memchr::memchr(b'\n', fresh))
        {
            let end = searched + length;
            if let Some(line) = buffer.get(start..end)
                && answers.write(line, &mut out)
            {
                out.push(b'\n');
            }
            start = end + 1;
            searched = start;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        searched = filled;
        output.write_all(&out)?;
        out.clear();
    }
}

/// Standard output without the line buffer that the standard library puts before it.
#[cfg(unix)]
pub(crate) fn raw_output() -> Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
pub(crate) fn raw_output() -> Result<std::io::Stdout> {
    Ok(std::io::stdout())
}
