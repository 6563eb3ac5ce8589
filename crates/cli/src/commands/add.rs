//! `switchboard add`: adds an entry for a registry name, a bundle or a known server.

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value, json};
use switchboard_config::Replace;
use switchboard_oauth::{Secret, SecretName, SecretStore, secret_scope};
use switchboard_registry::{
    Bundle, InstallAnswers, InstallChoice, InstallPlan, InstallRecipe, ListedServer, ListingStatus,
    PlanBody, RegistryQuestion, RegistryReach, fetch_bundle, install_choices, is_registry_name,
    short_name,
};
use switchboard_store::AuditNote;
use switchboard_terminal::{CliError, ask_line, ask_secret_line, exit_code, has_person, is_yes};
use switchboard_text::escape_line;
use switchboard_vetting::EntryFinding;

use crate::commands::bundle::is_bundle;
use crate::commands::consent::{PriorConsent, quote_word};
use crate::commands::registry::{RegistryChoiceArgs, known_servers, lookup, question, registries};
use crate::commands::registry::{bundle_error, plan_error};
use crate::commands::servers::edit::{Place, Scope, approve_now, scope_file};
use crate::commands::{audit, bundle, consent, first_use};
use crate::context::CommandContext;

/// Arguments of `switchboard add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Registry name such as `io.github.owner/server`, bundle `FILE.mcpb`, or known server
    #[arg(value_name = "NAME | FILE")]
    pub(crate) what: String,
    /// Name of the new entry (default: the last part of the server's name)
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Version to install instead of the newest
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Run the package of this kind: `npm`, `pypi`, `oci`, `nuget` or `mcpb`
    #[arg(long, value_name = "KIND", conflicts_with = "remote")]
    pub(crate) package: Option<String>,
    /// Connect to the server's remote endpoint instead of running a package
    #[arg(long)]
    pub(crate) remote: bool,
    /// Set an input of the server; `NAME=@FILE` reads the value from a file (can be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Expected SHA-256 digest of the bundle
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,
    /// Skip the confirmation; dangerous entries still require one
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the entry without adding it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace an existing server of that name
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) of: RegistryChoiceArgs,
    #[command(flatten)]
    pub(crate) place: Place,
}

struct AddOffer {
    name: String,
    source: String,
    plan: InstallPlan,
    /// The bundle to unpack before the entry is written.
    bundle: Option<Bundle>,
    warnings: Vec<String>,
}

pub(crate) async fn run(context: &CommandContext, wanted: &AddArgs) -> Result<u8, CliError> {
    let offer = offer(context, wanted).await?;
    let name = wanted.name.clone().unwrap_or(offer.name);
    let file = scope_file(context, wanted.place.scope)?;
    // Answers come before the preview, because they are part of the command line that is shown.
    let answers = gather_answers(context, &offer.plan, &wanted.set).await?;
    let recipe = offer.plan.fill(&answers).map_err(plan_error)?;
    let mut entry = recipe.entry();
    let findings = switchboard_config::entry_findings(&file, &name, &Value::Object(entry.clone()))?;
    present(context, &name, &recipe, &offer.plan);
    let report = |entry: &Map<String, Value>, added: AddOutcome| {
        report(
            context,
            &json!({"name": name, "file": file, "entry": entry,
            "secrets": recipe.secrets.keys().collect::<Vec<_>>(), "added": added == AddOutcome::Yes}),
        )
    };
    for warning in &offer.warnings {
        context.printer.warn(warning, None);
    }
    consent::tell(context, &findings);
    if wanted.dry_run {
        return report(&entry, AddOutcome::No);
    }
    agree(&name, &findings, wanted).await?;
    let dangers: Vec<&str> =
        findings.iter().filter(|one| one.is_danger()).map(|one| one.word.as_str()).collect();
    if let (Scope::User, false) = (wanted.place.scope, dangers.is_empty()) {
        // The user's file records the accepted dangers; a project's entry is approved by digest
        // instead.
        entry.insert("dangerous".to_owned(), json!(dangers));
    }
    if let Some(bundle) = &offer.bundle {
        // Unpack first: an entry must never point to files that do not exist.
        bundle.install(&bundle::bundles(context)).map_err(bundle_error)?;
    }
    let _claim = if wanted.yes { None } else { first_use::claim(context, &name)? };
    write(context, wanted, &name, &file, &entry)?;
    if let Err(error) = store_secrets(context, &name, &recipe).await {
        // An entry without its secrets is useless, but a replaced one cannot be restored.
        if !wanted.force {
            switchboard_config::remove_server(&file, &name)?;
        }
        return Err(error);
    }
    let text = json!(entry).to_string();
    audit::note(context, &[AuditNote::server_added(&name, &wanted.what, offer.source, &text)])?;
    let code = report(&entry, AddOutcome::Yes)?;
    if !wanted.yes {
        first_use::preview_server(context, &name).await?;
    }
    Ok(code)
}

async fn offer(context: &CommandContext, wanted: &AddArgs) -> Result<AddOffer, CliError> {
    let what = wanted.what.as_str();
    if is_bundle(what) {
        let bundle = bundle::open(context, Path::new(what), wanted.digest.as_deref())?;
        return bundle_offer(context, bundle);
    }
    let config = context.config()?;
    if !is_registry_name(what) {
        let known = known_servers(&config).await?;
        let Some(server) = known.by_name(what) else {
            return Err(CliError::usage(format!("`{what}` is neither a registry name, nor a bundle, nor a known server"))
                .with_hint("`switchboard registry search WORDS` finds names; `switchboard servers add NAME -- COMMAND` adds any command"));
        };
        let plan =
            InstallPlan::for_address(&server.endpoint, RegistryReach::Own).map_err(plan_error)?;
        let name = server.short_name();
        let source = format!("known server at {}", server.endpoint);
        return Ok(AddOffer { name, source, plan, bundle: None, warnings: Vec::new() });
    }
    let registries = registries(context, &config, &wanted.of)?;
    let (listed, registry) = lookup(context, &registries, what, wanted.version.as_deref()).await?;
    let reach = registry.address().reach();
    let version = listed.server.version.as_deref().unwrap_or("unknown");
    let source = format!("version {version}, from {}", registry.address().text());
    let warnings = status_warnings(&listed)?;
    let choice = choose_way(context, wanted, install_choices(&listed.server, reach)).await?;
    let plan = choice.plan.map_err(plan_error)?;
    let PlanBody::Bundle { url, sha256 } = &plan.body else {
        return Ok(AddOffer { name: short_name(what), source, plan, bundle: None, warnings });
    };
    let digest = wanted.digest.as_deref().unwrap_or(sha256);
    if !digest.eq_ignore_ascii_case(sha256) {
        let message = format!("the registry lists another SHA-256 for the bundle: {sha256}");
        return Err(CliError::new(exit_code::NOT_ALLOWED, message)
            .with_hint("correct `--digest`, or do not install this bundle"));
    }
    context.printer.say(&escape_line(&format!("fetching {url}")));
    let bundle = fetch_bundle(url, sha256, reach).await.map_err(bundle_error)?;
    let offer = bundle_offer(context, bundle)?;
    let source = format!("{source}, {}", offer.source);
    Ok(AddOffer { name: short_name(what), source, warnings, ..offer })
}

fn bundle_offer(context: &CommandContext, bundle: Bundle) -> Result<AddOffer, CliError> {
    let plan = bundle.plan(&bundle::surroundings(context)).map_err(bundle_error)?;
    let name = short_name(&bundle.manifest.name);
    let source = format!(
        "bundle `{}` {} with SHA-256 {}",
        bundle.manifest.name, bundle.manifest.version, bundle.sha256
    );
    context.printer.say(&escape_line(&source));
    Ok(AddOffer { name, source, plan, bundle: Some(bundle), warnings: Vec::new() })
}

/// Returns warnings about the server's registry status; fails if the server was deleted.
fn status_warnings(listed: &ListedServer) -> Result<Vec<String>, CliError> {
    let name = &listed.server.name;
    let why = listed.status_message().map(|why| format!(": {why}")).unwrap_or_default();
    match listed.status() {
        ListingStatus::Active => Ok(Vec::new()),
        ListingStatus::Other => Ok(vec![format!("`{name}` has an unknown status{why}")]),
        ListingStatus::Deprecated => Ok(vec![format!("`{name}` is deprecated{why}")]),
        ListingStatus::Deleted => {
            let message = format!("`{name}` was deleted from the registry{why}");
            Err(CliError::new(exit_code::NOT_ALLOWED, message))
        }
    }
}

/// Returns the requested install choice, the only possible one, or the one that the user picks.
async fn choose_way(
    context: &CommandContext,
    wanted: &AddArgs,
    ways: Vec<InstallChoice>,
) -> Result<InstallChoice, CliError> {
    let kind = if wanted.remote { Some("remote") } else { wanted.package.as_deref() };
    let mut fitting: Vec<InstallChoice> =
        ways.into_iter().filter(|way| kind.is_none_or(|kind| way.kind == kind)).collect();
    // Report why a choice is impossible only if no choice is possible.
    if fitting.iter().any(|way| way.plan.is_ok()) {
        fitting.retain(|way| way.plan.is_ok());
    }
    // Prefer streamable HTTP to the older SSE transport.
    if fitting.iter().any(|way| speaks(way, "http")) {
        fitting.retain(|way| !speaks(way, "sse"));
    }
    let count = fitting.len();
    let at = match count {
        0 => {
            let what = kind.map_or_else(|| "install option".to_owned(), |kind| format!("`{kind}`"));
            return Err(CliError::usage(format!("`{}` has no {what}", wanted.what))
                .with_hint(format!("`switchboard registry show {}` lists them", wanted.what)));
        }
        1 => 0,
        _ if fitting.iter().all(|way| way.plan.is_err()) => 0,
        // A script gets the first choice of the kind it asked for.
        _ if kind.is_some() && !has_person() => 0,
        _ if !has_person() => {
            return Err(CliError::usage(format!("`{}` can be added in {count} ways", wanted.what))
                .with_hint("choose one with `--package KIND` or `--remote`"));
        }
        _ => pick(context, &fitting).await?,
    };
    Ok(fitting.swap_remove(at))
}

fn speaks(way: &InstallChoice, wanted: &str) -> bool {
    matches!(&way.plan, Ok(InstallPlan { body: PlanBody::Remote { kind, .. }, .. }) if *kind == wanted)
}

async fn pick(context: &CommandContext, ways: &[InstallChoice]) -> Result<usize, CliError> {
    for (index, way) in ways.iter().enumerate() {
        let line = format!("  {}  {}  {}", index + 1, way.kind, way.what);
        context.printer.say(&escape_line(&line));
    }
    let said = ask_line(&format!("Which one? [1-{}] ", ways.len())).await;
    let number = said.and_then(|said| said.trim().parse::<usize>().ok());
    let at = number.and_then(|number| number.checked_sub(1)).filter(|at| *at < ways.len());
    at.ok_or_else(|| CliError::new(exit_code::NOT_ALLOWED, "nothing was chosen"))
}

fn present(context: &CommandContext, name: &str, recipe: &InstallRecipe, plan: &InstallPlan) {
    let words: Vec<String> = recipe.words().iter().map(|word| quote_word(word)).collect();
    let verb = if recipe.is_remote() { "is at" } else { "runs" };
    context.printer.say(&escape_line(&format!("`{name}` {verb}: {}", words.join(" "))));
    for (name, value) in recipe.pairs() {
        context.printer.say(&escape_line(&format!("  {name}: {value}")));
    }
    for note in &plan.notes {
        context.printer.say(&escape_line(&format!("  note: {note}")));
    }
    for variable in &recipe.from_environment {
        let message = format!(
            "`{variable}` is a plain-text secret, so the entry reads the environment variable `{variable}`"
        );
        context.printer.warn(&message, None);
    }
}

async fn agree(name: &str, findings: &[EntryFinding], wanted: &AddArgs) -> Result<(), CliError> {
    let by_hand = "to add it anyway, write the entry yourself with `switchboard servers add`";
    // `--yes` does not cover dangerous findings, because others wrote the entry.
    consent::agree(name, findings, PriorConsent::Wanted)
        .await
        .map_err(|error| error.with_hint(by_hand))?;
    if wanted.yes || findings.iter().any(EntryFinding::is_danger) {
        return Ok(());
    }
    let refused = |message: &str| CliError::new(exit_code::NOT_ALLOWED, message);
    if !std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        return Err(refused("approval needed, but there is no terminal to ask on")
            .with_hint("review the entry, then pass `--yes`"));
    }
    match ask_line(&format!("Add `{}`? [y/N] ", escape_line(name))).await {
        Some(said) if is_yes(said.trim()) => Ok(()),
        _ => Err(refused("you did not approve it")),
    }
}

fn write(
    context: &CommandContext,
    wanted: &AddArgs,
    name: &str,
    file: &Path,
    entry: &Map<String, Value>,
) -> Result<(), CliError> {
    let replace = if wanted.force { Replace::Allow } else { Replace::Refuse };
    switchboard_config::add_server(file, name, &Value::Object(entry.clone()), replace).map_err(
        |error| {
            let exists = error.message.contains("already");
            let error = CliError::from(error);
            if exists {
                error.with_hint("`--force` replaces it; `--as NAME` adds it under another name")
            } else {
                error
            }
        },
    )?;
    if wanted.place.scope == Scope::Project {
        // The user has just seen and confirmed the entry.
        approve_now(context, name)?;
    }
    let config = context.silent_config();
    if let Some(why) = config.servers.get(name).and_then(|server| server.barred.as_deref()) {
        context.printer.warn(&format!("`{name}` will not start: {why}"), None);
    }
    Ok(())
}

async fn store_secrets(
    context: &CommandContext,
    name: &str,
    recipe: &InstallRecipe,
) -> Result<(), CliError> {
    if recipe.secrets.is_empty() {
        return Ok(());
    }
    let config = context.silent_config();
    let server = config.servers.get(name).map_or_else(|| name.to_owned(), secret_scope);
    let secrets = SecretStore::new(&context.places.state, &context.environment, &config.settings);
    for (secret, value) in &recipe.secrets {
        let which = SecretName { server: server.clone(), name: secret.clone() };
        secrets.set(&which, Secret::new(value)).await?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AddOutcome {
    Yes,
    No,
}

fn report(context: &CommandContext, outcome: &Value) -> Result<u8, CliError> {
    let text =
        |member: &str| escape_line(outcome[member].as_str().unwrap_or_default()).into_owned();
    if context.printer.json {
        context.printer.json(outcome)?;
    } else if outcome["added"] == true {
        context.printer.say(&format!("added `{}` to {}", text("name"), text("file")));
        context.printer.say(&format!("hint: `switchboard doctor {}` checks it", text("name")));
    } else {
        context.printer.say("nothing was added");
    }
    Ok(exit_code::OK)
}

/// Maximum size of a file that an answer is read from, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1_024;

async fn gather_answers(
    context: &CommandContext,
    plan: &InstallPlan,
    set: &[String],
) -> Result<InstallAnswers, CliError> {
    let mut answers = typed_answers(context, set)?;
    for asked in &plan.asked {
        if answers.contains_key(&asked.name) {
            continue;
        }
        if asked.required && asked.default.is_none() && has_person() {
            let answer = ask_question(asked).await?;
            answers.insert(asked.name.clone(), vec![answer]);
        } else if !asked.required || asked.default.is_some() {
            context.printer.say(&format!("  optional: {}", question(asked)));
        }
    }
    Ok(answers)
}

fn typed_answers(context: &CommandContext, set: &[String]) -> Result<InstallAnswers, CliError> {
    let mut answers = InstallAnswers::new();
    for word in set {
        let Some((name, value)) = word.split_once('=') else {
            return Err(CliError::usage(format!("`--set {word}` has no `=`")));
        };
        let value = match value.strip_prefix('@') {
            Some(file) => read(context, file)?,
            None => value.to_owned(),
        };
        answers.entry(name.to_owned()).or_default().push(value);
    }
    Ok(answers)
}

fn read(context: &CommandContext, file: &str) -> Result<String, CliError> {
    let path = context.environment.current_dir.join(file);
    let wrong = |why: String| CliError::usage(format!("`{file}` cannot be read: {why}"));
    let length = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?.len();
    if length > MAX_ANSWER_BYTES {
        return Err(wrong(format!("it is longer than {MAX_ANSWER_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

async fn ask_question(asked: &RegistryQuestion) -> Result<String, CliError> {
    let prompt = format!("{}\n{}: ", question(asked), escape_line(&asked.name));
    let said = match asked.secret {
        true => Some(ask_secret_line(&prompt).await?),
        false => ask_line(&prompt).await,
    };
    let said = said.map(|said| said.trim_end_matches(['\r', '\n']).to_owned());
    said.filter(|said| !said.is_empty()).ok_or_else(|| {
        CliError::new(exit_code::NOT_ALLOWED, format!("no value was entered for `{}`", asked.name))
    })
}
