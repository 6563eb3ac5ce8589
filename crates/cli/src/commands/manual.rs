//! The manual page and shell completions, generated from the command-line definition.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};
use switchboard_terminal::{CliError, exit_code};

use crate::args::CliArgs;
use crate::context::CommandContext;

const BASH_VALUES: &str = include_str!("completions.bash");

pub(crate) fn completions(context: &CommandContext, shell: Shell) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "switchboard", &mut text);
    // clap completes names only; these functions ask servers for argument values.
    if shell == Shell::Bash {
        text.extend_from_slice(BASH_VALUES.as_bytes());
    }
    context.printer.data(&String::from_utf8_lossy(&text)).map(|()| exit_code::OK)
}

pub(crate) fn page(context: &CommandContext) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(CliArgs::command()).render(&mut text)?;
    let mut codes = Roff::new();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in exit_code::ALL {
        codes.control("TP", []);
        codes.text([roman(code.to_string())]);
        codes.text([roman(meaning)]);
    }
    codes.to_writer(&mut text)?;
    context.printer.data(&String::from_utf8_lossy(&text)).map(|()| exit_code::OK)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use clap::{ArgAction, CommandFactory as _};
    use switchboard_testkit::check_reference;

    use super::{CliArgs, exit_code};

    fn reference() -> String {
        let mut text = "# Commands\n\nMade from the program's own help; `UPDATE_REFERENCE=1 \
                        cargo test -p switchboard reference` writes it anew. Every command takes \
                        the options of `switchboard`, which are listed once.\n"
            .to_owned();
        let mut command = CliArgs::command();
        command.build();
        describe(&mut text, &mut command, 0);
        text.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
        for (code, meaning) in exit_code::ALL {
            writeln!(text, "| {code} | {meaning} |").unwrap();
        }
        text
    }

    fn describe(text: &mut String, command: &mut clap::Command, depth: usize) {
        assert!(depth < 5);
        let title = command.get_bin_name().unwrap_or("switchboard").to_owned();
        let is_everywhere = |arg: &clap::Arg| {
            arg.is_global_set() || matches!(arg.get_action(), ArgAction::Help | ArgAction::Version)
        };
        let own = command.clone().mut_args(|arg| {
            let is_hidden = arg.is_hide_set() || depth > 0 && is_everywhere(&arg);
            arg.hide(is_hidden)
        });
        let help = own.term_width(100).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(text, "\n## `{title}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
        for sub in command.get_subcommands_mut() {
            if sub.get_name() != "help" {
                describe(text, sub, depth + 1);
            }
        }
    }

    #[test]
    fn the_reference_page_is_what_the_program_says() {
        check_reference("cli.md", &reference(), "switchboard");
    }
}
