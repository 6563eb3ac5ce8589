//! Tables of programs that evaluate text or start other programs, and of the options that do so.

/// A program that evaluates code, and its options for that.
pub(crate) struct Interpreter {
    pub(crate) names: &'static [&'static str],
    /// Letters of single-dash options that are followed by code.
    pub(crate) letters: &'static str,
    /// Complete options that are followed by code.
    pub(crate) options: &'static [&'static str],
    /// Options that take another kind of value.
    pub(crate) with_value: &'static [&'static str],
    /// Whether the program reads code from standard input if no file is given.
    pub(crate) reads_input: bool,
}

pub(crate) const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &[
            "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "csh", "tcsh", "fish",
            "nu", "elvish", "xonsh", "yash", "oil", "osh",
        ],
        letters: "csC",
        options: &["--command", "--commands", "--init-command", "--rcfile", "--init-file"],
        with_value: &["-o", "-O", "+o", "+O"],
        reads_input: true,
    },
    Interpreter {
        names: &["python", "pypy", "pythonw", "micropython", "ipython", "jython"],
        letters: "c",
        options: &["--command"],
        with_value: &["-W", "-X"],
        reads_input: true,
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "deno", "tsx", "ts-node", "electron", "qjs"],
        letters: "ep",
        options: &["--eval", "--print", "eval", "repl"],
        with_value: &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C"],
        reads_input: true,
    },
    Interpreter {
        names: &["perl", "ruby", "jruby", "lua", "luajit", "raku", "osascript", "sbcl", "racket"],
        letters: "eE",
        options: &["--eval", "--execute"],
        with_value: &["-I", "-l"],
        reads_input: true,
    },
    Interpreter {
        names: &["php", "php-cgi"],
        letters: "rBRE",
        options: &["--run", "--process-begin", "--process-code", "--process-end"],
        with_value: &["-c", "-d"],
        reads_input: true,
    },
    Interpreter {
        names: &[
            "rscript", "r", "julia", "elixir", "iex", "erl", "groovy", "scala", "ghc", "jshell",
            "octave",
        ],
        letters: "eE",
        options: &["--eval", "--print", "-eval", "--expr", "--rpc-eval"],
        with_value: &[],
        reads_input: true,
    },
    Interpreter {
        names: &["emacs", "vim", "vi", "nvim", "ex", "view"],
        letters: "c",
        options: &["--eval", "--execute", "-eval", "--cmd", "--batch"],
        with_value: &[],
        reads_input: false,
    },
];

/// Programs whose first positional argument is code in their own language.
pub(crate) const SCRIPT_FIRST: &[&str] = &["awk", "gawk", "mawk", "nawk", "expect"];

/// Programs with options that take a shell command line or the name of a program to start.
pub(crate) const SHELL_LINE_OPTIONS: &[(&str, &[&str])] = &[
    ("su", &["-c", "--command", "--session-command"]),
    ("runuser", &["-c", "--command"]),
    ("script", &["-c", "--command", "-qc", "-qec", "-ec"]),
    ("flock", &["-c", "--command"]),
    ("nc", &["-e", "-c", "--exec", "--sh-exec"]),
    ("ncat", &["-e", "-c", "--exec", "--sh-exec"]),
    ("git", &["-c", "--upload-pack", "--receive-pack", "--exec"]),
    ("tar", &["--to-command", "--checkpoint-action", "-I", "--use-compress-program"]),
    ("rsync", &["-e", "--rsh"]),
    ("make", &["--eval", "-E"]),
    ("gdb", &["-ex", "-iex", "--eval-command"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("nix", &["-c", "--command", "--expr"]),
    ("nix-shell", &["--run", "--command", "-E"]),
    ("ssh", &["-o"]),
    ("nodemon", &["-x", "--exec"]),
    ("doppler", &["--command"]),
    ("sqlite", &["-cmd"]),
];

/// Programs that pass their arguments to a shell.
pub(crate) const SHELL_WORDS: &[&str] =
    &["watch", "parallel", "concurrently", "cross-env-shell", "entr"];

/// Options of the dynamic linker that take a value, if it is started as a program.
pub(crate) const LINKER_OPTIONS: &[&str] =
    &["--preload", "--audit", "--library-path", "--argv0", "--inhibit-rpath"];

pub(crate) const INPUT_FILES: &[&str] =
    &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0"];

/// Programs that start the program in their arguments, with their options that take a value.
pub(crate) const WRAPPERS: &[(&str, &[&str])] = &[
    ("env", &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"]),
    ("nohup", &[]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("time", &["-o", "-f"]),
    ("sudo", &["-u", "--user", "-g", "--group", "-C", "-D", "-h", "-p", "-R", "-T"]),
    ("doas", &["-u", "-C"]),
    ("chroot", &[]),
    ("unshare", &["-S", "-G", "-R", "-w"]),
    ("nsenter", &["-t", "-S", "-G"]),
    ("strace", &["-o", "-e", "-p", "-u", "-s"]),
    ("ltrace", &["-o", "-e", "-p", "-u", "-s"]),
    ("xargs", &["-I", "-n", "-P", "-L", "-a", "-d", "-s", "-E"]),
    ("busybox", &[]),
    ("toybox", &[]),
    ("exec", &[]),
    ("command", &[]),
    ("winpty", &[]),
    ("cross-env", &[]),
    ("dotenv", &["-e", "-f", "-v"]),
    ("dotenvx", &["-f"]),
    ("direnv", &[]),
    ("systemd-run", &["-p", "-u", "--unit", "--property"]),
    ("caffeinate", &["-t", "-w"]),
    ("arch", &[]),
    ("tini", &[]),
    ("dumb-init", &[]),
    ("npm", &["--prefix", "-w", "--workspace"]),
    ("pnpm", &["--dir", "-C", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("uv", &["--directory", "--project", "--with", "--python", "-p", "--env-file", "--from"]),
    ("poetry", &["-C", "-P", "--directory", "--project"]),
    ("pdm", &["-p", "--project"]),
    ("pipenv", &[]),
    ("hatch", &["-e", "-p"]),
    ("rye", &[]),
    ("conda", &["-n", "-p", "--name", "--prefix"]),
    ("mamba", &["-n", "-p", "--name", "--prefix"]),
    ("micromamba", &["-n", "-p", "--name", "--prefix"]),
    ("mise", &["-C", "-E"]),
    ("volta", &[]),
    ("bundle", &[]),
];

/// Words of a wrapper after which the program follows.
pub(crate) const RUN_VERBS: &[&str] = &["run", "exec", "x", "dlx", "tool", "time", "--"];
