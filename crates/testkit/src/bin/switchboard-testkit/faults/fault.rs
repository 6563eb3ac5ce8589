//! The names of all faults and when the chosen one strikes.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::options::Flags;

/// Where a fault takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultFamily {
    /// When the process starts.
    Start,
    /// While the client finds out what it talks to.
    Handshake,
    /// In what the reader of standard input does.
    Reading,
    /// In the process that works on a request.
    Process,
    /// In how the line with an answer is written to standard output.
    Text,
    /// Around every line on standard output.
    Framing,
    /// In the JSON-RPC message around a result.
    Envelope,
    /// Inside a result.
    Shape,
    /// In the bytes of an HTTP response.
    HttpBytes,
    /// In how an HTTP request is received, before any method is looked at.
    Door,
}

pub(crate) const FAULTS: &[(&str, FaultFamily)] = &[
    ("exit-at-start", FaultFamily::Start),
    ("abort-at-start", FaultFamily::Start),
    ("slow-start", FaultFamily::Start),
    ("ignore-term", FaultFamily::Start),
    ("grandchild", FaultFamily::Start),
    ("grandchild-setsid", FaultFamily::Start),
    ("silent-start", FaultFamily::Handshake),
    ("probe-exit", FaultFamily::Handshake),
    ("probe-silent", FaultFamily::Handshake),
    ("probe-nonsense", FaultFamily::Handshake),
    ("late-probe", FaultFamily::Handshake),
    ("crash-loop", FaultFamily::Handshake),
    ("crash-before-read", FaultFamily::Reading),
    ("stop-reading", FaultFamily::Reading),
    ("crash-after-read", FaultFamily::Process),
    ("crash-after-effect", FaultFamily::Process),
    ("hang", FaultFamily::Process),
    ("late", FaultFamily::Process),
    ("progress-forever", FaultFamily::Process),
    ("closed-stdout", FaultFamily::Process),
    ("listen-closes", FaultFamily::Process),
    ("half-line", FaultFamily::Text),
    ("no-newline", FaultFamily::Text),
    ("split", FaultFamily::Text),
    ("half-pause", FaultFamily::Text),
    ("many-in-one-write", FaultFamily::Text),
    ("pretty", FaultFamily::Text),
    ("long-line", FaultFamily::Text),
    ("noise-flood", FaultFamily::Text),
    ("noise", FaultFamily::Framing),
    ("binary-noise", FaultFamily::Framing),
    ("crlf-bom-blank", FaultFamily::Framing),
    ("unknown-id", FaultFamily::Envelope),
    ("string-id", FaultFamily::Envelope),
    ("duplicate", FaultFamily::Envelope),
    ("both-result-and-error", FaultFamily::Envelope),
    ("neither", FaultFamily::Envelope),
    ("no-jsonrpc", FaultFamily::Envelope),
    ("error-null", FaultFamily::Envelope),
    ("batch-answer", FaultFamily::Envelope),
    ("huge-error", FaultFamily::Envelope),
    ("notification-flood", FaultFamily::Envelope),
    ("ask-during-call", FaultFamily::Envelope),
    ("bad-tool", FaultFamily::Shape),
    ("bare-initialize", FaultFamily::Shape),
    ("odd-content", FaultFamily::Shape),
    ("extra-keys", FaultFamily::Shape),
    ("unknown-fields", FaultFamily::Shape),
    ("status", FaultFamily::HttpBytes),
    ("html", FaultFamily::HttpBytes),
    ("empty", FaultFamily::HttpBytes),
    ("204", FaultFamily::HttpBytes),
    ("reset-before-headers", FaultFamily::HttpBytes),
    ("close-before-headers", FaultFamily::HttpBytes),
    ("sse-cut", FaultFamily::HttpBytes),
    ("sse-cut-between", FaultFamily::HttpBytes),
    ("sse-stall", FaultFamily::HttpBytes),
    ("sse-silence", FaultFamily::HttpBytes),
    ("endless-body", FaultFamily::HttpBytes),
    ("short-body", FaultFamily::HttpBytes),
    ("long-body", FaultFamily::HttpBytes),
    ("redirect-loop", FaultFamily::Door),
    ("redirect-cross-origin", FaultFamily::Door),
    ("redirect-same-origin", FaultFamily::Door),
    ("session-lost", FaultFamily::Door),
    ("session-always-lost", FaultFamily::Door),
    ("unauthorized", FaultFamily::Door),
    ("insufficient-scope", FaultFamily::Door),
    ("sse-replay", FaultFamily::Door),
    ("refuse-get", FaultFamily::Door),
    ("idle-close", FaultFamily::Door),
];

/// Faults that only make sense in a server of the legacy era, unless the test says otherwise.
const LEGACY_FAULTS: &[&str] = &[
    "probe-exit",
    "probe-silent",
    "probe-nonsense",
    "late-probe",
    "bare-initialize",
    "ask-during-call",
    "session-lost",
    "session-always-lost",
    "sse-replay",
    "refuse-get",
];
/// Faults that belong to the whole process and therefore do not wear off after one strike.
const LASTING_FAULTS: &[&str] =
    &["bad-tool", "bare-initialize", "redirect-loop", "session-always-lost"];

/// The chosen fault.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) family: FaultFamily,
    pub(crate) code: i32,
    pub(crate) bytes: Option<usize>,
    pub(crate) count: usize,
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) hops: u32,
    pub(crate) token: Option<String>,
    on: String,
    after: u64,
    every: u64,
    times: u64,
    pause: Option<Duration>,
    once_file: Option<PathBuf>,
    seen: AtomicU64,
    struck: AtomicU64,
}

impl Fault {
    pub(crate) fn new(flags: &Flags) -> Self {
        let wanted = flags.text("fault").unwrap_or_else(|| panic!("`flaky` needs `--fault`"));
        let known = FAULTS.iter().find(|(name, _)| *name == wanted);
        let Some(&(name, family)) = known else {
            let names: Vec<&str> = FAULTS.iter().map(|(name, _)| *name).collect();
            panic!("unknown fault `{wanted}`; faults are {}", names.join(", "));
        };
        let usual_times = match family {
            FaultFamily::Handshake => "always",
            _ if LASTING_FAULTS.contains(&name) => "always",
            _ => "1",
        };
        let times = flags.text("times").unwrap_or(usual_times);
        let usual_on = match name {
            "bad-tool" => "tools/list",
            "bare-initialize" => "initialize",
            _ => "tools/call",
        };
        Self {
            name,
            family,
            code: flags.number("code", 1),
            bytes: flags.text("bytes").map(|_| flags.number("bytes", 0)),
            count: flags.number("count", 100_000),
            status: flags.text("status").map(|_| flags.number("status", 0)),
            retry_after: flags.text("retry-after").map(str::to_owned),
            to: flags.text("to").map(str::to_owned),
            hops: flags.number("hops", 1),
            token: flags.text("token").map(str::to_owned),
            on: flags.text("on").unwrap_or(usual_on).to_owned(),
            after: flags.number("after", 1),
            every: flags.number("every", 1),
            times: if times == "always" { u64::MAX } else { flags.number("times", 1) },
            pause: flags
                .text("pause-ms")
                .map(|_| Duration::from_millis(flags.number("pause-ms", 0))),
            once_file: flags.text("once-file").map(PathBuf::from),
            seen: AtomicU64::new(0),
            struck: AtomicU64::new(0),
        }
    }

    /// Stops a test that asks for a fault where it cannot happen.
    pub(crate) fn check(&self, stdio: bool) {
        let fits = match self.family {
            FaultFamily::Reading | FaultFamily::Text | FaultFamily::Framing => stdio,
            FaultFamily::HttpBytes | FaultFamily::Door => !stdio,
            _ => stdio || self.name != "closed-stdout",
        };
        assert!(fits, "the fault `{}` does not happen on this transport", self.name);
    }

    pub(crate) fn is_for_legacy_servers(&self) -> bool {
        LEGACY_FAULTS.contains(&self.name)
    }

    /// `--after 0`: the fault is there from the start instead of waiting for a message.
    pub(crate) fn is_there_from_the_start(&self) -> bool {
        self.after == 0
    }

    pub(crate) fn pause(&self, usual_milliseconds: u64) -> Duration {
        self.pause.unwrap_or(Duration::from_millis(usual_milliseconds))
    }

    /// How long `subscriptions/listen` goes on when the fault is that it ends.
    pub(crate) fn listening_lasts(&self) -> Option<Duration> {
        (self.name == "listen-closes").then(|| self.pause(500))
    }

    /// Counts a message that the fault may strike, and says whether it does.
    pub(crate) fn strikes(&self, method: &str) -> bool {
        if self.on != "any" && self.on != method {
            return false;
        }
        let seen = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let first = self.after.max(1);
        if seen < first || !(seen - first).is_multiple_of(self.every.max(1)) {
            return false;
        }
        self.struck.fetch_add(1, Ordering::SeqCst) < self.times && self.claim()
    }

    /// Takes the one strike that all processes with the same file share.
    pub(crate) fn claim(&self) -> bool {
        let Some(path) = &self.once_file else { return true };
        OpenOptions::new().write(true).create_new(true).open(path).is_ok()
    }
}
