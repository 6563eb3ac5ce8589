//! The manual page and shell completions, made from the command line's own description.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};

use crate::args::Arguments;
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;

/// Prints completions for a shell.
pub(crate) fn completions(context: &Context, shell: Shell) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "switchboard", &mut text);
    context.printer.data(&String::from_utf8_lossy(&text))?;
    Ok(exit_code::OK)
}

/// Prints the manual page, with the exit codes.
pub(crate) fn page(context: &Context) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
    let mut codes = Roff::new();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in exit_code::ALL {
        codes.control("TP", []);
        codes.text([roman(code.to_string())]);
        codes.text([roman(meaning)]);
    }
    codes.to_writer(&mut text)?;
    context.printer.data(&String::from_utf8_lossy(&text))?;
    Ok(exit_code::OK)
}
