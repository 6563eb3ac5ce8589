//! `switchboard bundle`: shows the contents and the command of a bundle without unpacking it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use switchboard_config::{ServerConfig, Transport};
use switchboard_files::canonicalize;
use switchboard_registry::{
    ArchiveLimits, Bundle, BundleContext, InstallPlan, installed_bundle_at,
};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;

use crate::commands::registry::bundle_error;
use crate::commands::registry::question;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    #[command(subcommand)]
    pub(crate) command: BundleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Show a bundle's contents and command without unpacking it
    Show {
        /// Bundle file, `.mcpb` or `.dxt`
        file: PathBuf,
        /// Expected SHA-256 digest of the file
        #[arg(long, value_name = "HEX")]
        digest: Option<String>,
    },
}

pub(crate) fn run(context: &CommandContext, args: &BundleArgs) -> Result<u8, CliError> {
    let BundleCommand::Show { file, digest } = &args.command;
    let bundle = open(context, file, digest.as_deref())?;
    show(context, &bundle)
}

pub(crate) fn open(
    context: &CommandContext,
    file: &Path,
    digest: Option<&str>,
) -> Result<Bundle, CliError> {
    let path = context.environment.current_dir.join(file);
    Bundle::open(&path, &ArchiveLimits::default(), digest).map_err(bundle_error)
}

pub(crate) fn is_bundle(what: &str) -> bool {
    let lower = what.to_ascii_lowercase();
    lower.ends_with(".mcpb") || lower.ends_with(".dxt")
}

pub(crate) fn bundles(context: &CommandContext) -> PathBuf {
    let state = &context.places.state;
    canonicalize(state).unwrap_or_else(|_| state.clone()).join("bundles")
}

/// Returns the values for the variables of a manifest on this machine.
pub(crate) fn surroundings(context: &CommandContext) -> BundleContext {
    BundleContext::this_machine(bundles(context), context.environment.home.clone())
}

fn show(context: &CommandContext, bundle: &Bundle) -> Result<u8, CliError> {
    let plan = bundle.plan(&surroundings(context));
    let (files, bytes) = bundle.size();
    let manifest = &bundle.manifest;
    if context.printer.json {
        context.printer.json(&json!({
            "name": manifest.name,
            "version": manifest.version,
            "sha256": bundle.sha256,
            "files": files,
            "bytes": bytes,
            "runs": plan.as_ref().ok().map(InstallPlan::display_text),
            "asks": plan.as_ref().ok().map(|plan| &plan.asked),
            "refused": plan.as_ref().err().map(ToString::to_string),
            "manifest": manifest,
        }))?;
        return Ok(exit_code::OK);
    }
    let line = |text: &str| escape_line(text).into_owned();
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    _ = writeln!(text, "{} {}", line(&manifest.name), line(&manifest.version));
    for said in
        manifest.display_name.iter().chain([&manifest.description]).filter(|said| !said.is_empty())
    {
        _ = writeln!(text, "    {}", line(said));
    }
    if !manifest.author.name.is_empty() {
        _ = writeln!(text, "    by {}", line(&manifest.author.name));
    }
    _ = writeln!(text, "    {files} files, {bytes} bytes");
    _ = writeln!(text, "    SHA-256 {}", bundle.sha256);
    match plan {
        Ok(plan) => {
            _ = writeln!(text, "    runs {}", line(&plan.display_text()));
            for asked in &plan.asked {
                _ = writeln!(text, "    asks for {}", question(asked));
            }
            for note in &plan.notes {
                _ = writeln!(text, "    note: {}", line(note));
            }
        }
        Err(error) => _ = writeln!(text, "    refused: {}", line(&error.to_string())),
    }
    context.printer.data(&text).map(|()| exit_code::OK)
}

/// Lists the changes to the unpacked bundle of a server since its installation.
pub(crate) fn changes(context: &CommandContext, server: &ServerConfig) -> Vec<String> {
    let Transport::Stdio { command, args, .. } = &server.transport else { return Vec::new() };
    let bundles = bundles(context);
    let words = std::iter::once(command).chain(args);
    let Some(installed) = words.filter_map(|word| installed_bundle_at(&bundles, word)).next()
    else {
        return Vec::new();
    };
    match installed.changes() {
        Ok(changes) => changes,
        Err(error) => vec![format!("the list of its files cannot be read: {error}")],
    }
}
