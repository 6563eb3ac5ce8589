//! Writes to standard output on a thread of its own, because the reader may be slow for ever.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::emission::{Emission, WireStep};
use crate::faults;
use crate::server::FixtureServer;
use crate::system;

pub(crate) fn start(
    server: Arc<FixtureServer>,
    mut emissions: mpsc::Receiver<Emission>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let fault = server.fault();
        let mut greeting = fault.map(faults::greeting).unwrap_or_default();
        loop {
            for step in greeting.drain(..) {
                // Nobody reads any more: there is nothing left to do but to go on unheard.
                if take(step).is_err() {
                    return;
                }
            }
            match emissions.blocking_recv() {
                Some(Emission::Notice(text) | Emission::Final(text, _)) => {
                    greeting.push(WireStep::Write(faults::encode(fault, &text)));
                }
                Some(Emission::Wire(steps)) => greeting.extend(steps),
                None => return,
            }
        }
    })
}

#[expect(clippy::exit, reason = "a fault that ends the process does so once its bytes are out")]
fn take(step: WireStep) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match step {
        WireStep::Write(bytes) => {
            stdout.write_all(&bytes)?;
            stdout.flush()
        }
        WireStep::Trickle(bytes) => bytes.chunks(1).try_for_each(|byte| {
            stdout.write_all(byte)?;
            stdout.flush()
        }),
        WireStep::Pause(pause) => {
            std::thread::sleep(pause);
            Ok(())
        }
        WireStep::Repeat(bytes, pause) => loop {
            stdout.write_all(&bytes)?;
            stdout.flush()?;
            std::thread::sleep(pause);
        },
        WireStep::Exit(code) => std::process::exit(code),
        WireStep::Close | WireStep::Reset => system::close_standard_output(),
    }
}
