//! Detects commands that evaluate their arguments, such as `bash -c` and `node -e`, in any nesting.

use std::path::Path;

use switchboard_text::sanitize;

use crate::findings::EntryFinding;
use crate::launchers::{
    INPUT_FILES, INTERPRETERS, Interpreter, LINKER_OPTIONS, RUN_VERBS, SCRIPT_FIRST,
    SHELL_LINE_OPTIONS, SHELL_WORDS, WRAPPERS,
};
use crate::{containers, packages};

/// Maximum nesting of programs that start other programs.
const MAX_DEPTH: usize = 8;

/// Returns the dangers in the words of a command.
pub(crate) fn findings(words: &[&str]) -> Vec<EntryFinding> {
    command_findings(words, 0)
}

fn command_findings(words: &[&str], depth: usize) -> Vec<EntryFinding> {
    let Some((command, args)) = words.split_first() else { return Vec::new() };
    let name = program_name(command);
    // Fails closed: a command that cannot be followed to its end needs approval.
    if depth > MAX_DEPTH {
        return vec![eval_finding("starts programs through too many others to follow")];
    }
    // A program inside a container cannot harm the host, unless options of the runtime expose it.
    if containers::is_runtime(&name) {
        return containers::findings(args);
    }
    if let Some(finding) = windows_shell(&name, args, depth) {
        return finding;
    }
    if SCRIPT_FIRST.contains(&name.as_str()) {
        let from_file = args.iter().any(|arg| arg.starts_with("-f") || *arg == "--file");
        let own = (!from_file).then(|| program_text_finding(&name, "its first argument"));
        return own.into_iter().collect();
    }
    if let Some(interpreter) = INTERPRETERS.iter().find(|one| one.names.contains(&name.as_str())) {
        let packages = if matches!(name.as_str(), "bun") { bun_x_command(args) } else { None };
        return match packages {
            Some(rest) => command_findings(rest, depth + 1),
            None => interpreter.program_text(&name, args).into_iter().collect(),
        };
    }
    if SHELL_WORDS.contains(&name.as_str()) {
        return vec![program_text_finding(&name, "its words")];
    }
    // The dynamic linker can be started as a program, and then runs its first argument.
    if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" {
        let loads = args.iter().find(|arg| matches!(**arg, "--preload" | "--audit"));
        let own = loads.map(|option| program_text_finding(&name, option));
        return own
            .into_iter()
            .chain(wrapper_findings(&name, args, LINKER_OPTIONS, depth))
            .collect();
    }
    if packages::is_runner(&name) {
        let script = packages::runner_command(args).first().filter(|_| name == "pipx");
        let fetched = script.filter(|word| is_web_address(word));
        let fetched = fetched.map(|_| program_text_finding(&name, "an address"));
        let own = runner_text(&name, args).or(fetched);
        return own
            .into_iter()
            .chain(command_findings(packages::runner_command(args), depth + 1))
            .collect();
    }
    match WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        Some((_, with_value)) => wrapper_findings(&name, args, with_value, depth),
        None => nested_findings(&name, args),
    }
}

/// Checks any other program for options that take a command line, and for a nested interpreter.
fn nested_findings(name: &str, args: &[&str]) -> Vec<EntryFinding> {
    let takers = SHELL_LINE_OPTIONS.iter().filter(|(taker, _)| *taker == name);
    let line = takers.flat_map(|(_, options)| *options).find(|option| {
        // A value may directly follow a single letter.
        let is_letter = option.len() == 2;
        args.iter().any(|arg| {
            arg == *option
                || arg.starts_with(&format!("{option}="))
                || is_letter && arg.starts_with(*option)
        })
    });
    let socket = || {
        let runs = |arg: &str| arg.starts_with("exec:") || arg.starts_with("system:");
        let found = name == "socat" && args.iter().any(|arg| runs(&arg.to_ascii_lowercase()));
        found.then(|| program_text_finding(name, "an address"))
    };
    let own = line.map(|option| program_text_finding(name, option)).or_else(socket);
    let among = args.iter().enumerate().find_map(|(index, arg)| {
        let inner = program_name(arg);
        let interpreter = INTERPRETERS.iter().find(|one| one.names.contains(&inner.as_str()))?;
        let rest = args.get(index + 1..).unwrap_or_default();
        // A mere mention of an interpreter's name is not followed by an option.
        rest.first().filter(|first| first.starts_with('-') && first.len() > 1)?;
        // Nor does it mean that the interpreter runs, and reads standard input.
        interpreter.program_text(&inner, rest).filter(|found| !found.message.contains(STDIN_LABEL))
    });
    own.into_iter().chain(among).collect()
}

const STDIN_LABEL: &str = "standard input";

/// Returns the lower-case name of a program, without folder, extension and version.
pub(crate) fn program_name(command: &str) -> String {
    let last = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let last = Path::new(last).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ends = [".exe", ".cmd", ".bat", ".com", ".ps1"];
    // Package runners accept a program with its version.
    let last = match last.find('@') {
        Some(at) if at > 0 => last.get(..at).unwrap_or(&last).to_owned(),
        _ => last,
    };
    let bare = ends.iter().find_map(|end| last.strip_suffix(end)).unwrap_or(&last).to_owned();
    // `python3.12` and `lua-5.4` are `python` and `lua`.
    let plain = bare.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_".contains(c));
    if plain.is_empty() { bare } else { plain.to_owned() }
}

impl Interpreter {
    fn program_text(&self, name: &str, args: &[&str]) -> Option<EntryFinding> {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let option = arg.split('=').next().unwrap_or(arg);
            if self.options.contains(&option) {
                return Some(program_text_finding(name, option));
            }
            if *arg == "run" && matches!(name, "deno" | "bun") {
                continue;
            }
            if *arg == "-" || INPUT_FILES.contains(arg) {
                return Some(program_text_finding(name, STDIN_LABEL));
            }
            // Unlike Node.js, Deno and Bun run code from a URL.
            let takes_urls = matches!(name, "deno" | "bun");
            if arg.contains("data:") || takes_urls && is_web_address(arg) {
                return Some(program_text_finding(name, "an address"));
            }
            if self.with_value.contains(arg) {
                if rest.next().is_some_and(|value| value.starts_with("data:")) {
                    return Some(program_text_finding(name, arg));
                }
                continue;
            }
            // A positional argument is a script file; options after it belong to the script.
            let cluster = arg.strip_prefix(['-', '+'])?;
            if cluster.starts_with('-') {
                if cluster == "-" {
                    return rest.next().is_none().then(|| program_text_finding(name, STDIN_LABEL));
                }
                continue;
            }
            if name.starts_with("py") && cluster.starts_with(['W', 'X']) {
                continue;
            }
            // Some modules evaluate their arguments: `python -m timeit CODE`.
            let module = cluster.split_once('m').filter(|(before, _)| !before.contains('c'));
            if let Some((_, module)) = module.filter(|_| name.starts_with("py")) {
                let module = Some(module).filter(|module| !module.is_empty());
                let module = module.or_else(|| rest.next().copied()).unwrap_or_default();
                let runs = ["timeit", "code", "pdb", "trace", "cProfile"].contains(&module);
                return runs
                    .then(|| program_text_finding(name, &format!("-m {}", sanitize(module))));
            }
            if cluster.chars().any(|letter| self.letters.contains(letter)) {
                return Some(program_text_finding(name, &sanitize(option)));
            }
        }
        self.reads_input.then(|| program_text_finding(name, STDIN_LABEL))
    }
}

fn is_web_address(word: &str) -> bool {
    word.starts_with("http:") || word.starts_with("https:")
}

/// Checks `cmd` and `PowerShell`, which have their own option syntax.
fn windows_shell(name: &str, args: &[&str], depth: usize) -> Option<Vec<EntryFinding>> {
    match name {
        "cmd" => {
            let rest: Vec<&str> =
                args.iter().copied().skip_while(|arg| arg.starts_with('/')).collect();
            // `cmd` joins its arguments to a line and interprets these characters in it.
            let speaks = rest.iter().any(|arg| arg.contains(['&', '|', '<', '>', '^', '%', '`']));
            let own = (speaks || rest.is_empty()).then(|| program_text_finding(name, "its words"));
            Some(own.into_iter().chain(command_findings(&rest, depth + 1)).collect())
        }
        "powershell" | "pwsh" => {
            let file = args.iter().any(|arg| {
                let option = arg.to_ascii_lowercase();
                option.len() > 1 && "-file".starts_with(&option) || option.ends_with(".ps1")
            });
            // PowerShell accepts every prefix of an option, such as `-enc`.
            let text = args.iter().any(|arg| {
                let option = arg.to_ascii_lowercase();
                let option = option.trim_start_matches('-');
                arg.starts_with('-')
                    && !option.is_empty()
                    && ("command".starts_with(option)
                        || "encodedcommand".starts_with(option)
                        || matches!(option, "ec" | "commandwithargs" | "cwa"))
            });
            let own = (text || !file).then(|| program_text_finding(name, "its words"));
            Some(own.into_iter().collect())
        }
        _ => None,
    }
}

/// Finds options of package runners that take a shell command line.
fn runner_text(name: &str, args: &[&str]) -> Option<EntryFinding> {
    // Arguments after the package belong to the package.
    let before = args.len() - packages::runner_command(args).len();
    let mut own = args.iter().take(before).filter(|arg| arg.starts_with('-'));
    own.find(|arg| {
        let option = arg.split('=').next().unwrap_or(arg);
        let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        matches!(
            option,
            // npm also accepts `--cal`, an unambiguous prefix of `--call`.
            "--call" | "--cal" | "--shell-mode" | "--shell" | "--node-options" | "--script-shell"
        ) || short.is_some_and(|letters| letters.contains('c'))
    })
    .map(|option| program_text_finding(name, &sanitize(option)))
}

fn bun_x_command<'a, 'w>(args: &'a [&'w str]) -> Option<&'a [&'w str]> {
    let (first, rest) = args.split_first()?;
    (*first == "x").then(|| packages::runner_command(rest))
}

/// Follows a wrapper to the program that it starts.
fn wrapper_findings(
    name: &str,
    args: &[&str],
    with_value: &[&str],
    depth: usize,
) -> Vec<EntryFinding> {
    let mut found = Vec::new();
    let mut rest = args;
    // Their first positional argument is a duration or a folder, not the program.
    let mut number_left = matches!(name, "timeout" | "chroot");
    while let Some((word, after)) = rest.split_first() {
        let option = word.split('=').next().unwrap_or(word);
        let is_split = name == "env"
            && (option == "--split-string"
                || word
                    .strip_prefix('-')
                    .is_some_and(|letters| !letters.starts_with('-') && letters.contains('S')));
        let takes_line = matches!(option, "-c" | "--call" | "--cal" | "--shell-mode")
            && matches!(name, "npm" | "pnpm" | "yarn" | "conda" | "nix");
        if *word == "-" {
            found.push(program_text_finding(name, STDIN_LABEL));
            return found;
        }
        if is_split || takes_line {
            found.push(program_text_finding(name, &sanitize(option)));
            return found;
        }
        if name == "uv" && is_web_address(word) {
            found.push(program_text_finding(name, "an address"));
            return found;
        }
        if with_value.contains(word) {
            rest = after.split_first().map_or(&[], |(_, after)| after);
        } else if word.starts_with('-') || RUN_VERBS.contains(word) {
            rest = after;
        } else if let Some((variable, _)) = word.split_once('=').filter(|(name, _)| is_plain(name))
        {
            // `env NAME=VALUE program` sets a variable past the entry's `env`.
            found.extend(crate::findings::variable_finding(variable));
            rest = after;
        } else if number_left {
            number_left = false;
            rest = after;
        } else {
            break;
        }
    }
    found.extend(command_findings(rest, depth + 1));
    found
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn program_text_finding(name: &str, place: &str) -> EntryFinding {
    eval_finding(&format!("`{}` runs program text out of {place}, not a program", sanitize(name)))
}

fn eval_finding(message: &str) -> EntryFinding {
    EntryFinding::danger("eval", message)
}
