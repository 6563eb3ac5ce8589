//! Pipe in, pipe out: two threads that copy whatever comes.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::error::Result;
use crate::server::raw_output;

const COPY_BYTES: usize = 64 << 10;

/// Copies between our own pipes and those of one server, until the input ends.
pub(super) fn copy() -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["raw-server", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let ours = raw_output()?;
    let back = std::thread::spawn(move || carry(output, ours));
    carry(std::io::stdin(), input)?;
    back.join().map_err(|_| "the way back broke")??;
    process.wait()?;
    Ok(())
}

fn carry(mut from: impl Read, mut to: impl Write) -> Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(text) = buffer.get(..read).filter(|text| !text.is_empty()) else { return Ok(()) };
        to.write_all(text)?;
    }
}
