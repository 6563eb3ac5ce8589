//! Reads lines from standard input on a thread of its own.

use std::io::{self, BufRead};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::peek::{Peek, PeekedLine};
use crate::faults::{Fault, FaultFamily};
use crate::server::FixtureServer;

/// Lines without their end; the channel closes at the end of input.
pub(crate) fn start(server: Arc<FixtureServer>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        let reading = server.fault().filter(|fault| fault.family == FaultFamily::Reading);
        match reading {
            Some(fault) => read_carefully(fault, &sender),
            None => read_all(&sender),
        }
    });
    receiver
}

fn read_all(sender: &mpsc::Sender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if sender.blocking_send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

/// Looks at each line before it takes it out of the pipe, and leaves the struck call in there.
#[expect(clippy::exit, reason = "ending before the call is read is the fault")]
fn read_carefully(fault: &Fault, sender: &mpsc::Sender<Vec<u8>>) {
    let mut peek = Peek::new();
    let mut stopped = false;
    let mut look = true;
    while !stopped {
        match peek.next(look) {
            PeekedLine::Line(line) => {
                let text = String::from_utf8_lossy(&line);
                let opened = ["notifications/initialized", "server/discover"]
                    .iter()
                    .any(|method| text.contains(method));
                stopped = opened && fault.is_there_from_the_start();
                look = true;
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            PeekedLine::Call => {
                stopped = fault.strikes("tools/call");
                look = false;
            }
            PeekedLine::End => return,
        }
    }
    if fault.name == "crash-before-read" {
        std::process::exit(fault.code);
    }
    loop {
        std::thread::park();
    }
}
