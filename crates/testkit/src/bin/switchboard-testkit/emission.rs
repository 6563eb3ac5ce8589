//! What a server sends while it works on one message, and where it goes.

use std::time::Duration;

use tokio::sync::mpsc;

/// One thing done to the bytes that leave: to standard output or to a TCP connection.
#[derive(Debug)]
pub(crate) enum WireStep {
    Write(Vec<u8>),
    /// The same bytes one at a time, each flushed.
    Trickle(Vec<u8>),
    Pause(Duration),
    /// The same bytes for ever, with a pause between.
    Repeat(Vec<u8>, Duration),
    /// Ends the process once everything before is written.
    Exit(i32),
    /// Closes standard output, or the connection with a FIN.
    Close,
    /// Closes the connection with a RST.
    Reset,
}

#[derive(Debug)]
pub(crate) enum Emission {
    /// A message that is not the last for its request.
    Notice(String),
    /// The answer, with its error code if it is a refusal.
    Final(String, Option<i64>),
    /// Bytes instead of a message.
    Wire(Vec<WireStep>),
}

/// The way out for one conversation (stdio) or one request (HTTP).
#[derive(Clone, Debug)]
pub(crate) struct Outlet(mpsc::Sender<Emission>);

impl Outlet {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Emission>) {
        let (sender, receiver) = mpsc::channel(256);
        (Self(sender), receiver)
    }

    // Nobody listening is an ordinary end of a conversation, so failing to send is ignored.

    pub(crate) async fn notice(&self, text: String) {
        let _ = self.0.send(Emission::Notice(text)).await;
    }

    pub(crate) async fn finish(&self, text: String, code: Option<i64>) {
        let _ = self.0.send(Emission::Final(text, code)).await;
    }

    pub(crate) async fn wire(&self, steps: Vec<WireStep>) {
        let _ = self.0.send(Emission::Wire(steps)).await;
    }

    /// Waits until nobody reads what is sent here.
    pub(crate) async fn wait_closed(&self) {
        self.0.closed().await;
    }
}
