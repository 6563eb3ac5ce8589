//! The names of all faults and when the chosen one strikes.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::options::Flags;

/// Where a fault takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
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

pub(crate) const FAULTS: &[(&str, Family)] = &[
    ("exit-at-start", Family::Start),
    ("abort-at-start", Family::Start),
    ("slow-start", Family::Start),
    ("ignore-term", Family::Start),
    ("grandchild", Family::Start),
    ("grandchild-setsid", Family::Start),
    ("silent-start", Family::Handshake),
    ("probe-exit", Family::Handshake),
    ("probe-silent", Family::Handshake),
    ("probe-nonsense", Family::Handshake),
    ("late-probe", Family::Handshake),
    ("crash-loop", Family::Handshake),
    ("crash-before-read", Family::Reading),
    ("stop-reading", Family::Reading),
    ("crash-after-read", Family::Process),
    ("crash-after-effect", Family::Process),
    ("hang", Family::Process),
    ("late", Family::Process),
    ("progress-forever", Family::Process),
    ("closed-stdout", Family::Process),
    ("listen-closes", Family::Process),
    ("half-line", Family::Text),
    ("no-newline", Family::Text),
    ("split", Family::Text),
    ("half-pause", Family::Text),
    ("many-in-one-write", Family::Text),
    ("pretty", Family::Text),
    ("long-line", Family::Text),
    ("noise-flood", Family::Text),
    ("noise", Family::Framing),
    ("binary-noise", Family::Framing),
    ("crlf-bom-blank", Family::Framing),
    ("unknown-id", Family::Envelope),
    ("string-id", Family::Envelope),
    ("duplicate", Family::Envelope),
    ("both-result-and-error", Family::Envelope),
    ("neither", Family::Envelope),
    ("no-jsonrpc", Family::Envelope),
    ("error-null", Family::Envelope),
    ("batch-answer", Family::Envelope),
    ("huge-error", Family::Envelope),
    ("notification-flood", Family::Envelope),
    ("ask-during-call", Family::Envelope),
    ("bad-tool", Family::Shape),
    ("bare-initialize", Family::Shape),
    ("odd-content", Family::Shape),
    ("extra-keys", Family::Shape),
    ("unknown-fields", Family::Shape),
    ("status", Family::HttpBytes),
    ("html", Family::HttpBytes),
    ("empty", Family::HttpBytes),
    ("204", Family::HttpBytes),
    ("reset-before-headers", Family::HttpBytes),
    ("close-before-headers", Family::HttpBytes),
    ("sse-cut", Family::HttpBytes),
    ("sse-cut-between", Family::HttpBytes),
    ("sse-stall", Family::HttpBytes),
    ("sse-silence", Family::HttpBytes),
    ("endless-body", Family::HttpBytes),
    ("short-body", Family::HttpBytes),
    ("long-body", Family::HttpBytes),
    ("redirect-loop", Family::Door),
    ("redirect-cross-origin", Family::Door),
    ("redirect-same-origin", Family::Door),
    ("session-lost", Family::Door),
    ("session-always-lost", Family::Door),
    ("unauthorized", Family::Door),
    ("insufficient-scope", Family::Door),
    ("sse-replay", Family::Door),
    ("refuse-get", Family::Door),
    ("idle-close", Family::Door),
];

/// Faults that only make sense in a server of the legacy era, unless the test says otherwise.
const LEGACY: &[&str] = &[
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
const LASTING: &[&str] = &["bad-tool", "bare-initialize", "redirect-loop", "session-always-lost"];

/// The chosen fault.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
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
            Family::Handshake => "always",
            _ if LASTING.contains(&name) => "always",
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
            Family::Reading | Family::Text | Family::Framing => stdio,
            Family::HttpBytes | Family::Door => !stdio,
            _ => stdio || self.name != "closed-stdout",
        };
        assert!(fits, "the fault `{}` does not happen on this transport", self.name);
    }

    pub(crate) fn is_for_legacy_servers(&self) -> bool {
        LEGACY.contains(&self.name)
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
