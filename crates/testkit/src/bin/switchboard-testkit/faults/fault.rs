//! The names of all faults and when the chosen one strikes.

use std::fs::OpenOptions;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::options::{FixtureOptions, FixtureTransport, ServerKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultFamily {
    Start,
    /// While the client determines the era of the server.
    Handshake,
    /// In the reader of standard input.
    Reading,
    /// In the process, while it handles a request.
    Process,
    /// In the line with an answer on standard output.
    Text,
    /// Around every line on standard output.
    Framing,
    /// In the JSON-RPC message around a result.
    Envelope,
    Shape,
    /// In the bytes of an HTTP response.
    HttpBytes,
    /// In the reception of an HTTP request, before its method runs.
    Door,
}

const FAULTS: [(FaultFamily, &str); 10] = [
    (
        FaultFamily::Start,
        "exit-at-start abort-at-start slow-start ignore-term grandchild \
         grandchild-setsid",
    ),
    (
        FaultFamily::Handshake,
        "silent-start probe-exit probe-silent probe-nonsense late-probe crash-loop",
    ),
    (FaultFamily::Reading, "crash-before-read stop-reading"),
    (
        FaultFamily::Process,
        "crash-after-read crash-after-effect hang late progress-forever closed-stdout \
         listen-closes",
    ),
    (
        FaultFamily::Text,
        "half-line no-newline split half-pause many-in-one-write pretty long-line \
         noise-flood",
    ),
    (FaultFamily::Framing, "noise binary-noise crlf-bom-blank"),
    (
        FaultFamily::Envelope,
        "unknown-id string-id duplicate both-result-and-error neither no-jsonrpc \
         error-null batch-answer huge-error notification-flood ask-during-call",
    ),
    (FaultFamily::Shape, "bad-tool bare-initialize odd-content extra-keys unknown-fields"),
    (
        FaultFamily::HttpBytes,
        "status html empty 204 reset-before-headers close-before-headers sse-cut \
         sse-cut-between sse-stall sse-silence endless-body short-body long-body",
    ),
    (
        FaultFamily::Door,
        "redirect-loop redirect-cross-origin redirect-same-origin session-lost \
         session-always-lost unauthorized insufficient-scope sse-replay refuse-get \
         idle-close",
    ),
];

/// Faults that only make sense in a legacy server: they select that era unless `--era` is given.
const LEGACY_FAULTS: &str = "probe-exit probe-silent probe-nonsense late-probe bare-initialize \
     ask-during-call session-lost session-always-lost sse-replay refuse-get";
/// Faults of the whole process, which therefore strike every time instead of once.
const LASTING_FAULTS: &str = "bad-tool bare-initialize redirect-loop session-always-lost";

/// `flaky`: the fault, and when it strikes.
#[derive(Args, Clone, Debug)]
pub(crate) struct FaultOptions {
    /// flaky: the fault
    #[arg(long = "fault", value_parser = PossibleValuesParser::new(fault_names()))]
    name: Option<String>,
    /// flaky: method of the messages that it may strike, or `any` (default: mostly tools/call)
    #[arg(long)]
    on: Option<String>,
    /// flaky: first strike at the Nth such message
    #[arg(long, default_value_t = 1)]
    after: u64,
    /// flaky: further strikes at every Nth one
    #[arg(long, default_value_t = 1)]
    every: u64,
    /// flaky: number of strikes, or `always` (default: 1; always for faults of a whole process)
    #[arg(long, value_parser = parse_times)]
    times: Option<u64>,
    /// flaky: strike only if the file is absent, and create it
    #[arg(long)]
    once_file: Option<PathBuf>,
    #[arg(long, default_value_t = 1)]
    pub(crate) code: i32,
    #[arg(long)]
    pause_ms: Option<u64>,
    #[arg(long)]
    pub(crate) bytes: Option<usize>,
    #[arg(long, default_value_t = 100_000)]
    pub(crate) count: usize,
    /// Status of an HTTP response or redirect
    #[arg(long)]
    pub(crate) status: Option<u16>,
    /// `Retry-After` header; may be malformed, such as a negative number
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) retry_after: Option<String>,
    #[arg(long)]
    pub(crate) to: Option<String>,
    #[arg(long, default_value_t = 1)]
    pub(crate) hops: u32,
    #[arg(long)]
    pub(crate) token: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) family: FaultFamily,
    pub(crate) options: FaultOptions,
    seen: AtomicU64,
    struck: AtomicU64,
}

fn fault_names() -> Vec<&'static str> {
    FAULTS.iter().flat_map(|(_, names)| names.split(' ')).collect()
}

fn parse_times(text: &str) -> Result<u64, ParseIntError> {
    if text == "always" { Ok(u64::MAX) } else { text.parse() }
}

fn is_listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|listed| listed == name)
}

impl Fault {
    pub(crate) fn new(options: &FixtureOptions) -> Option<Self> {
        if options.kind != ServerKind::Flaky {
            return None;
        }
        let name = options.fault.name.clone().expect("`flaky` needs `--fault`");
        let known = FAULTS.iter().find(|(_, names)| is_listed(names, &name));
        let family = known.map(|(family, _)| *family).expect("only known names are parsed");
        let fault = Self {
            name,
            family,
            options: options.fault.clone(),
            seen: AtomicU64::new(0),
            struck: AtomicU64::new(0),
        };
        fault.check(options.transport == FixtureTransport::Stdio);
        Some(fault)
    }

    /// Panics if the fault cannot happen on this transport.
    fn check(&self, stdio: bool) {
        let fits = match self.family {
            FaultFamily::Reading | FaultFamily::Text | FaultFamily::Framing => stdio,
            FaultFamily::HttpBytes | FaultFamily::Door => !stdio,
            _ => stdio || self.name != "closed-stdout",
        };
        assert!(fits, "the fault `{}` does not happen on this transport", self.name);
    }

    pub(crate) fn is_for_legacy_servers(&self) -> bool {
        is_listed(LEGACY_FAULTS, &self.name)
    }

    /// Whether `--after 0` was given: the fault is active from the start, before any message.
    pub(crate) fn is_there_from_the_start(&self) -> bool {
        self.options.after == 0
    }

    pub(crate) fn pause(&self, usual_milliseconds: u64) -> Duration {
        Duration::from_millis(self.options.pause_ms.unwrap_or(usual_milliseconds))
    }

    /// Returns how long `subscriptions/listen` lasts if the fault is that it ends.
    pub(crate) fn listening_lasts(&self) -> Option<Duration> {
        (self.name == "listen-closes").then(|| self.pause(500))
    }

    /// Counts a message that the fault may strike, and returns whether it does.
    pub(crate) fn strikes(&self, method: &str) -> bool {
        let usual = match self.name.as_str() {
            "bad-tool" => "tools/list",
            "bare-initialize" => "initialize",
            _ => "tools/call",
        };
        let on = self.options.on.as_deref().unwrap_or(usual);
        if on != "any" && on != method {
            return false;
        }
        let seen = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let first = self.options.after.max(1);
        if seen < first || !(seen - first).is_multiple_of(self.options.every.max(1)) {
            return false;
        }
        let lasting =
            self.family == FaultFamily::Handshake || is_listed(LASTING_FAULTS, &self.name);
        let times = self.options.times.unwrap_or(if lasting { u64::MAX } else { 1 });
        self.struck.fetch_add(1, Ordering::SeqCst) < times && self.claim()
    }

    /// Claims the one strike that all processes with the same `--once-file` share.
    pub(crate) fn claim(&self) -> bool {
        let Some(path) = &self.options.once_file else { return true };
        OpenOptions::new().write(true).create_new(true).open(path).is_ok()
    }
}
