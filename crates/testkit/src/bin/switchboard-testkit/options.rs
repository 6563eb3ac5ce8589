//! Reads the command line of the fixture.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::faults::{FAULTS, Fault};
use crate::oauth::MISBEHAVIOURS;

const USAGE: &str = "\
switchboard-testkit <echo|asker|flaky|given|hostile|weather|github|conformance|protected|journal|model|oauth> [--flag value]...
  --era legacy|modern|dual      which protocol eras are spoken (dual)
  --revision DATE               legacy revision answered to `initialize` (what was asked, if known)
  --transport stdio|http|sse    sse is the HTTP+SSE transport of 2024-11-05 (stdio)
  --port N                      loopback port for http and sse (0: any free port)
  --page-size N                 lists come in pages
  --tools N                     adds tools tool_0001 to tool_N
  --start-delay-ms N            waits before it reads or listens
  --journal FILE                side effects and cancellations, one line each
  --trace FILE                  the start and every message that arrives, one JSON object per line
  --no-get-stream               405 for GET
  --sse-answers                 answers over HTTP are event streams
  --overlay FILE                lays over each list what the file says at that moment
  --tasks                       adds tools that run as tasks, and one that needs a visit first
  --task-poll-ms N              how often clients shall ask about a task (250)
  --until-stdin-closes          an HTTP server ends with its parent
journal:
  --tools N --journal FILE      echo_001, slow_001, fail_001, big_001, progress_001 and so on; its
                                start and every call's `id` are in the journal before the answer
github:
  --store FILE                  the issues that were created, one JSON object per line
model:
  --vendor openai|anthropic|gemini
  --script FILE                 what the model says, turn by turn
  --journal FILE                every request, one JSON object per line
  --key KEY                     refuses requests with another key or none
  --port N --until-stdin-closes
oauth:
  an authorization server and, at /mcp, the server `protected` behind it; /control tells all
  --era legacy|modern|dual
  --client-auth none|basic|post how clients prove themselves (none)
  --client ID --client-secret S a client that need not register
  --no-registration             no dynamic registration
  --client-documents            takes the address of a client's document as its id
  --discovery oauth|openid|origin|nowhere   where metadata is (oauth)
  --issuer-path /PATH           the issuer has a path
  --token-seconds N             how long tokens are good (3600)
  --no-refresh                  no refresh tokens
  --base-scope S                the scope without which nothing is answered
  --scopes 'A B'                `scopes_supported` in the metadata
  --deny                        nobody agrees
  --server-metadata JSON --resource-metadata JSON    members to replace; null removes one
  --misbehave NAME --value V    in values, {origin}, {sink} and {sink-port} belong to this process
  --status N                    of redirects (307)
  --port N --until-stdin-closes
given:
  --offers FILE                 lists, instructions, `results` and `notices` of calls, `contents`
                                of addresses, as JSON
hostile:
  --only PART,PART              a part of it (all parts)
flaky:
  --fault NAME                  what goes wrong
  --on METHOD|any               which messages it may strike (tools/call)
  --after N                     the first strike is at the Nth such message (1)
  --every N                     then at each Nth one (1)
  --times N|always              how many strikes (1; always for faults of a whole process)
  --once-file FILE              strikes only if FILE is absent, and creates it
  --code N --pause-ms N --bytes N --count N --status N --retry-after V --to URL --hops N --token T
";

const SWITCHES: &[&str] = &[
    "no-get-stream",
    "sse-answers",
    "tasks",
    "until-stdin-closes",
    "no-registration",
    "client-documents",
    "no-refresh",
    "deny",
];
const VALUES: &[&str] = &[
    "era",
    "revision",
    "transport",
    "port",
    "page-size",
    "tools",
    "start-delay-ms",
    "journal",
    "trace",
    "overlay",
    "only",
    "offers",
    "fault",
    "on",
    "after",
    "every",
    "times",
    "once-file",
    "code",
    "pause-ms",
    "bytes",
    "count",
    "status",
    "retry-after",
    "to",
    "hops",
    "token",
    "store",
    "task-poll-ms",
    "vendor",
    "script",
    "key",
    "client-auth",
    "client",
    "client-secret",
    "discovery",
    "issuer-path",
    "token-seconds",
    "base-scope",
    "scopes",
    "server-metadata",
    "resource-metadata",
    "misbehave",
    "value",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerKind {
    Echo,
    Asker,
    Hostile,
    /// What a file says.
    Given,
    Weather,
    Github,
    /// What the official suite expects of a server.
    Conformance,
    Protected,
    /// Notes every call before it answers.
    Journal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixtureEra {
    Legacy,
    Modern,
    Dual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixtureTransport {
    Stdio,
    Http,
    Sse,
}

/// How long an HTTP server goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerLife {
    UntilKilled,
    UntilInputEnds,
}

impl ServerLife {
    pub(crate) fn from_flags(flags: &Flags) -> Self {
        if flags.has("until-stdin-closes") { Self::UntilInputEnds } else { Self::UntilKilled }
    }
}

/// Everything the command line of an MCP server says.
#[derive(Debug)]
pub(crate) struct FixtureOptions {
    pub(crate) kind: ServerKind,
    pub(crate) era: FixtureEra,
    pub(crate) revision: Option<String>,
    pub(crate) transport: FixtureTransport,
    pub(crate) port: u16,
    pub(crate) page_size: Option<usize>,
    pub(crate) extra_tools: usize,
    pub(crate) start_delay: Duration,
    pub(crate) journal: Option<PathBuf>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) overlay: Option<PathBuf>,
    pub(crate) get_stream: bool,
    pub(crate) sse_answers: bool,
    pub(crate) life: ServerLife,
    pub(crate) store: Option<PathBuf>,
    pub(crate) only: Vec<String>,
    pub(crate) offers: Option<PathBuf>,
    pub(crate) fault: Option<Fault>,
    pub(crate) tasks: bool,
    pub(crate) task_poll_ms: u64,
}

impl FixtureOptions {
    pub(crate) fn parse(arguments: &[String]) -> Self {
        let (kind, rest) = arguments.split_first().unwrap_or_else(|| panic!("{USAGE}"));
        let flags = Flags::read(rest);
        let (kind, fault) = match kind.as_str() {
            "echo" => (ServerKind::Echo, None),
            "asker" => (ServerKind::Asker, None),
            "hostile" => (ServerKind::Hostile, None),
            "given" => (ServerKind::Given, None),
            "weather" => (ServerKind::Weather, None),
            "github" => (ServerKind::Github, None),
            "conformance" => (ServerKind::Conformance, None),
            "protected" => (ServerKind::Protected, None),
            "journal" => (ServerKind::Journal, None),
            "flaky" => (ServerKind::Echo, Some(Fault::new(&flags))),
            other => panic!("unknown kind `{other}`\n{USAGE}"),
        };
        let era = match flags.text("era") {
            // Some faults exist only in servers that were never modern.
            None if fault.as_ref().is_some_and(Fault::is_for_legacy_servers) => FixtureEra::Legacy,
            None | Some("dual") => FixtureEra::Dual,
            Some("legacy") => FixtureEra::Legacy,
            Some("modern") => FixtureEra::Modern,
            Some(other) => panic!("unknown era `{other}`"),
        };
        let transport = match flags.text("transport") {
            None | Some("stdio") => FixtureTransport::Stdio,
            Some("http") => FixtureTransport::Http,
            Some("sse") => FixtureTransport::Sse,
            Some(other) => panic!("unknown transport `{other}`"),
        };
        if let Some(fault) = &fault {
            fault.check(transport == FixtureTransport::Stdio);
        }
        Self {
            kind,
            era,
            revision: flags.text("revision").map(str::to_owned),
            transport,
            port: flags.number("port", 0),
            page_size: flags.text("page-size").map(|_| flags.number("page-size", 1)),
            extra_tools: flags.number("tools", 0),
            start_delay: Duration::from_millis(flags.number("start-delay-ms", 0)),
            journal: flags.text("journal").map(PathBuf::from),
            trace: flags.text("trace").map(PathBuf::from),
            overlay: flags.text("overlay").map(PathBuf::from),
            get_stream: !flags.has("no-get-stream"),
            sse_answers: flags.has("sse-answers"),
            life: ServerLife::from_flags(&flags),
            store: flags.text("store").map(PathBuf::from),
            offers: flags.text("offers").map(PathBuf::from),
            only: flags
                .text("only")
                .map(|parts| parts.split(',').map(str::to_owned).collect())
                .unwrap_or_default(),
            fault,
            tasks: flags.has("tasks"),
            task_poll_ms: flags.number("task-poll-ms", 250),
        }
    }
}

/// The flags as written, checked only for names that do not exist.
pub(crate) struct Flags(HashMap<String, String>);

impl Flags {
    pub(crate) fn read(arguments: &[String]) -> Self {
        let mut flags = HashMap::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let Some(name) = argument.strip_prefix("--") else {
                panic!("`{argument}` is not a flag\n{USAGE}");
            };
            let value = if SWITCHES.contains(&name) {
                String::new()
            } else if VALUES.contains(&name) {
                rest.next().unwrap_or_else(|| panic!("`--{name}` needs a value")).clone()
            } else {
                panic!("unknown flag `--{name}`\n{USAGE}");
            };
            flags.insert(name.to_owned(), value);
        }
        Self(flags)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str, otherwise: N) -> N {
        self.text(name).map_or(otherwise, |text| {
            text.parse().unwrap_or_else(|_| panic!("`--{name} {text}` is not a number that fits"))
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

#[expect(clippy::print_stdout, reason = "the usage is what was asked for")]
pub(crate) fn print_usage() {
    println!("{USAGE}faults:");
    for (name, family) in FAULTS {
        println!("  {name:<24} {family:?}");
    }
    println!("misbehaviours:");
    for (name, effect) in MISBEHAVIOURS {
        println!("  {name:<24} {effect}");
    }
}
