//! Writes to standard output on a thread of its own, because the reader may be slow for ever.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::emission::{Emission, Step};
use crate::faults;
use crate::server::Server;
use crate::system;

pub(crate) fn start(
    server: Arc<Server>,
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
                    greeting.push(Step::Write(faults::dress(fault, &text)));
                }
                Some(Emission::Wire(steps)) => greeting.extend(steps),
                None => return,
            }
        }
    })
}

#[expect(clippy::exit, reason = "a fault that ends the process does so once its bytes are out")]
fn take(step: Step) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match step {
        Step::Write(bytes) => {
            stdout.write_all(&bytes)?;
            stdout.flush()
        }
        Step::Trickle(bytes) => bytes.chunks(1).try_for_each(|byte| {
            stdout.write_all(byte)?;
            stdout.flush()
        }),
        Step::Pause(pause) => {
            std::thread::sleep(pause);
            Ok(())
        }
        Step::Repeat(bytes, pause) => loop {
            stdout.write_all(&bytes)?;
            stdout.flush()?;
            std::thread::sleep(pause);
        },
        Step::Exit(code) => std::process::exit(code),
        Step::Close | Step::Reset => system::close_standard_output(),
    }
}
