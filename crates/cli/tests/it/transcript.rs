//! Transcripts of commands for snapshots, without the parts that differ from run to run.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::running::Ran;

/// Returns the exit status and the output of a command, for a snapshot.
pub(crate) fn transcript(ran: &Ran) -> String {
    let mut parts = vec![format!("exit status {}", ran.code)];
    for (name, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        if !text.is_empty() {
            parts.push(format!("--- {name}\n{}", redacted(text.trim_end())));
        }
    }
    parts.join("\n")
}

/// Returns the text with placeholders for folders, ports, ids, times, digests and versions.
pub(crate) fn redacted(text: &str) -> String {
    static BINARIES: LazyLock<String> = LazyLock::new(|| {
        let binary = Path::new(env!("CARGO_BIN_EXE_switchboard"));
        format!("{}/", binary.parent().unwrap().display())
    });
    static FOLDERS: LazyLock<Regex> = LazyLock::new(|| {
        let folder = std::env::temp_dir();
        let folder = regex::escape(folder.to_str().unwrap().trim_end_matches('/'));
        // The temporary folder of macOS is behind a symbolic link.
        regex(&format!(r"(?:/private)?{folder}/(?:switchboard-|\.tmp)[0-9A-Za-z]{{6}}"))
    });
    static REPLACED: LazyLock<[(Regex, &str); 18]> = LazyLock::new(|| {
        [
            // The current folder of a test is always this one.
            (regex(r"\[home\]/work\b"), "[work]"),
            (regex(r"(127\.0\.0\.1|\[::1\]|localhost):\d+"), "$1:[port]"),
            // On the only line of a file, the column depends on the paths before it.
            (regex(r"\b((?:config|named|switchboard)\.json:1):\d+"), "$1:[column]"),
            (regex(r"\b[0-9a-f]{64}\b"), "[digest]"),
            (regex(r"\(value [0-9a-f]{8}\)"), "(value [digest])"),
            (regex(r"\b(backup|corrupt)-[0-9TZ]+"), "$1-[time]"),
            (regex(r"\btask-\d+-\d+\b"), "[task]"),
            (regex(r"\(os error \d+\)"), "(os error [number])"),
            (regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "[time]"),
            // An id of a conversation begins with its time, and so with a digit.
            (regex(r"\b\d[0-9a-z]{11}\b"), "[session]"),
            (regex(r"\b\d+(\.\d+)? ?(ms|µs)\b"), "[duration]"),
            (regex(r"\b\d+(\.\d+)? s\b"), "[duration]"),
            (regex(r"\t\d+\.\d\t"), "\t[duration]\t"),
            (regex(r"\breview (show|answer) [0-9a-z]{4}\b"), "review $1 [id]"),
            (regex(r"`[0-9a-z]{4}`( is no longer pending)"), "`[id]`$1"),
            (regex(r"(digest mismatch for) `[0-9a-z]{4}`"), "$1 `[id]`"),
            (regex(r"\b(process|pid)(:?) \d+"), "$1$2 [pid]"),
            (regex(r"\b(switchboard|Switchboard)([ /])\d+\.\d+\.\d+\b"), "$1$2[version]"),
        ]
    });

    let text = text.replace("\r\n", "\n").replace('\u{1b}', "␛").replace(&*BINARIES, "");
    let mut text = FOLDERS.replace_all(&text, "[home]").into_owned();
    for (what, with) in &*REPLACED {
        text = what.replace_all(&text, *with).into_owned();
    }
    text
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}
