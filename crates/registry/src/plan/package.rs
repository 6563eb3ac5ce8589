//! Converts the packages and remotes of `server.json` to plans to choose from.

use crate::client::RegistryReach;
use crate::plan::error::PlanError;
use crate::plan::exact_version;
use crate::plan::install_plan::{
    InstallPlan, PlanBody, PlanItem, PlanQuestions, check_header, check_text, check_variable,
};
use crate::plan::question::{AnswerFormat, RegistryQuestion};
use crate::plan::runner::PackageRunner;
use crate::plan::template::Template;
use crate::server_json::{
    KeyValue, PackageArgument, RegistryPackage, RegistryRemote, ServerDetail, ValueInput,
};

/// Maximum number of arguments or variables of a plan, since a person has to review them.
const MAX_ITEMS: usize = 100;

pub(crate) fn package_plan(
    package: &RegistryPackage,
    reach: RegistryReach,
) -> Result<InstallPlan, PlanError> {
    if package.registry_type == "mcpb" {
        return bundle(package, reach);
    }
    let kind = package.registry_type.as_str();
    let hint = package.runtime_hint.as_deref();
    let Some(runner) = PackageRunner::for_package(kind, hint) else {
        return Err(PlanError::NoRunner(kind.to_owned()));
    };
    let spec = match runner {
        PackageRunner::Npx | PackageRunner::Bunx => exact_version::npm(package)?,
        PackageRunner::Uvx => exact_version::pypi(package)?,
        PackageRunner::Dnx => exact_version::nuget(package)?,
        PackageRunner::Docker | PackageRunner::Podman => exact_version::image(package)?,
    };
    let transport = package.transport.as_ref().map_or("stdio", |transport| transport.kind.as_str());
    if !matches!(transport, "stdio" | "") {
        return Err(PlanError::Listens(spec));
    }
    let too_many = package.runtime_arguments.len() > MAX_ITEMS
        || package.package_arguments.len() > MAX_ITEMS
        || package.environment_variables.len() > MAX_ITEMS;
    if too_many {
        return Err(PlanError::Hostile {
            what: format!("the package `{spec}`"),
            why: format!("has more than {MAX_ITEMS} arguments or variables"),
        });
    }
    let mut questions = PlanQuestions::default();
    let env = variables(&package.environment_variables, &mut questions)?;
    let runtime = items(&package.runtime_arguments, &mut questions)?;
    let words = items(&package.package_arguments, &mut questions)?;
    let args = command_line(runner, &spec, runtime, words, &env)?;
    let mut notes = Vec::new();
    if let Some(hint) = hint.filter(|hint| *hint != runner.command()) {
        notes.push(format!("the publisher suggests `{hint}`; `{}` is used", runner.command()));
    }
    if let Some(base) = &package.registry_base_url {
        let command = runner.command();
        // Not passed to the runner: a registry must not choose where code is downloaded from.
        notes.push(format!(
            "published at {base}, but `{command}` downloads from its configured source"
        ));
    }
    if runner.is_container() && !spec.contains("@sha256:") {
        notes.push("the image is pinned by a tag, which its owner can move".to_owned());
    }
    Ok(InstallPlan {
        body: PlanBody::Command { command: Template::text(runner.command()), args, env },
        asked: questions.into_asked(),
        notes,
        reach,
    })
}

fn command_line(
    runner: PackageRunner,
    spec: &str,
    runtime: Vec<PlanItem>,
    words: Vec<PlanItem>,
    env: &[(String, PlanItem)],
) -> Result<Vec<PlanItem>, PlanError> {
    let mut args = Vec::new();
    match runner {
        PackageRunner::Npx => args.push(PlanItem::from_fixed_words(["-y"])),
        PackageRunner::Docker | PackageRunner::Podman => {
            args.push(PlanItem::from_fixed_words(["run", "-i", "--rm"]));
        }
        PackageRunner::Bunx | PackageRunner::Uvx | PackageRunner::Dnx => {}
    }
    let said: &[&str] = match runner {
        PackageRunner::Npx | PackageRunner::Bunx | PackageRunner::Dnx => &["-y", "--yes"],
        PackageRunner::Uvx => &[],
        PackageRunner::Docker | PackageRunner::Podman => &["run", "-i", "--interactive", "--rm"],
    };
    let accepted = runner.accept_items(runtime, spec, said)?;
    if runner.is_container() {
        // Only the name: other users see arguments, but not the environment.
        for (name, item) in env {
            let words = vec![Template::text("-e"), Template::text(name.as_str())];
            let needs = item.words.iter().flat_map(Template::names).map(str::to_owned).collect();
            args.push(PlanItem { needs, ..PlanItem::new(words) });
        }
    }
    // `dnx` has its options after the package, and needs `--` before those of the server.
    if runner == PackageRunner::Dnx {
        args.push(PlanItem::from_fixed_words([spec]));
        args.push(PlanItem::from_fixed_words(["--yes"]));
        args.extend(accepted);
        if !words.is_empty() {
            args.push(PlanItem::from_fixed_words(["--"]));
        }
    } else {
        args.extend(accepted);
        args.push(PlanItem::from_fixed_words([spec]));
    }
    args.extend(words);
    Ok(args)
}

fn variables(
    variables: &[KeyValue],
    questions: &mut PlanQuestions,
) -> Result<Vec<(String, PlanItem)>, PlanError> {
    let mut read = Vec::new();
    for variable in variables {
        check_variable(&variable.name)?;
        check_input(&format!("the variable `{}`", variable.name), &variable.input)?;
        let value = questions.value(&variable.name, &variable.input);
        let item = PlanItem { required: variable.input.is_required, ..PlanItem::new(vec![value]) };
        read.push((variable.name.clone(), item));
    }
    Ok(read)
}

fn bundle(package: &RegistryPackage, reach: RegistryReach) -> Result<InstallPlan, PlanError> {
    let url = &package.identifier;
    reach.check(url).map_err(|why| PlanError::Hostile {
        what: "the address of the bundle".to_owned(),
        why: format!("is not allowed: {why}"),
    })?;
    // Without a digest, the host of the file could replace it after the review.
    let digest = package.file_sha256.as_deref().map(str::to_ascii_lowercase);
    let is_digest =
        |digest: &String| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sha256 = digest.filter(is_digest).ok_or_else(|| PlanError::NoDigest(url.clone()))?;
    Ok(InstallPlan {
        body: PlanBody::Bundle { url: url.clone(), sha256 },
        asked: Vec::new(),
        notes: Vec::new(),
        reach,
    })
}

pub(crate) fn remote_plan(
    remote: &RegistryRemote,
    reach: RegistryReach,
) -> Result<InstallPlan, PlanError> {
    let kind = match remote.kind.as_str() {
        "sse" => "sse",
        "streamable-http" | "streamable_http" | "streamableHttp" | "streamable" | "http" => "http",
        other => return Err(PlanError::NoRunner(other.to_owned())),
    };
    check_text("the address", &remote.url)?;
    for (name, variable) in &remote.variables {
        check_input(&format!("the variable `{name}`"), variable)?;
    }
    let mut questions = PlanQuestions::default();
    let url = questions.template("url", &remote.url, &remote.variables, false);
    // A URL with variables is checked once the answers are known.
    if url.names().next().is_none() {
        reach.check(&remote.url).map_err(|why| not_visited(&why))?;
    }
    let mut headers = Vec::new();
    for header in &remote.headers {
        check_header(&header.name)?;
        check_input(&format!("the header `{}`", header.name), &header.input)?;
        let mut input = header.input.clone();
        // Publishers may forget to mark these headers as secret.
        let is_key = ["authorization", "api-key", "apikey", "token", "secret"];
        let name = header.name.to_ascii_lowercase();
        input.is_secret |= is_key.iter().any(|word| name.contains(word));
        let value = questions.value(&header.name, &input);
        let item = PlanItem { required: input.is_required, ..PlanItem::new(vec![value]) };
        headers.push((header.name.clone(), item));
    }
    let body = PlanBody::Remote { kind, url, headers };
    Ok(InstallPlan { body, asked: questions.into_asked(), notes: Vec::new(), reach })
}

pub(crate) fn not_visited(why: &str) -> PlanError {
    PlanError::Hostile { what: "the address".to_owned(), why: format!("is not allowed: {why}") }
}

/// One way to add a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallChoice {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`.
    pub kind: String,
    /// The package or the URL, as published.
    pub what: String,
    pub plan: Result<InstallPlan, PlanError>,
}

/// Returns every way to add a server, remotes last.
#[must_use]
pub fn install_choices(server: &ServerDetail, reach: RegistryReach) -> Vec<InstallChoice> {
    let packages = server.packages.iter().map(|one| InstallChoice {
        kind: one.registry_type.clone(),
        what: match &one.version {
            Some(version) => format!("{} {version}", one.identifier),
            None => one.identifier.clone(),
        },
        plan: package_plan(one, reach),
    });
    let remotes = server.remotes.iter().map(|one| InstallChoice {
        kind: "remote".to_owned(),
        what: one.url.clone(),
        plan: remote_plan(one, reach),
    });
    packages.chain(remotes).collect()
}

pub(crate) fn items(
    arguments: &[PackageArgument],
    questions: &mut PlanQuestions,
) -> Result<Vec<PlanItem>, PlanError> {
    let numbered = arguments.iter().enumerate();
    numbered.map(|(index, argument)| item(argument, index + 1, questions)).collect()
}

fn item(
    argument: &PackageArgument,
    number: usize,
    questions: &mut PlanQuestions,
) -> Result<PlanItem, PlanError> {
    let input = &argument.input;
    check_input(&format!("argument {number}"), input)?;
    let name = argument.name.as_deref().filter(|_| argument.kind != "positional");
    let Some(name) = name else {
        let asked = argument.value_hint.clone().unwrap_or_else(|| format!("argument-{number}"));
        let value = value(&asked, argument, questions);
        return Ok(PlanItem { required: input.is_required, ..PlanItem::new(vec![value]) });
    };
    check_text(&format!("argument {number}"), name)?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        let what = format!("argument {number}");
        return Err(PlanError::Hostile { what, why: "has an invalid name".to_owned() });
    }
    let flag = Template::text(name);
    let plain = name.trim_start_matches('-').to_owned();
    // A Boolean option is a switch: it is present or absent, and takes no value.
    if let (None, AnswerFormat::Boolean) =
        (&input.value, AnswerFormat::from_word(input.format.as_deref()))
    {
        let when = questions.ask(RegistryQuestion::from_input(&plain, input), "argument");
        return Ok(PlanItem { when: Some(when), ..PlanItem::new(vec![flag]) });
    }
    if is_bare(argument) {
        return Ok(PlanItem { required: true, ..PlanItem::new(vec![flag]) });
    }
    let value = value(&plain, argument, questions);
    Ok(PlanItem { required: input.is_required, ..PlanItem::new(vec![flag, value]) })
}

fn value(name: &str, argument: &PackageArgument, questions: &mut PlanQuestions) -> Template {
    let input = &argument.input;
    match &input.value {
        Some(_) => questions.value(name, input),
        None => {
            let asked = RegistryQuestion {
                repeated: argument.is_repeated,
                ..RegistryQuestion::from_input(name, input)
            };
            Template::from_answer(questions.ask(asked, "argument"))
        }
    }
}

/// Returns whether an option takes no value, because nothing in its description refers to one.
fn is_bare(argument: &PackageArgument) -> bool {
    let input = &argument.input;
    let speaks =
        [&input.value, &input.default, &input.format, &input.placeholder, &argument.value_hint];
    speaks.iter().all(|said| said.is_none()) && input.choices.is_empty() && !input.is_required
}

/// Checks every text that could become part of a command without being typed by the user.
fn check_input(what: &str, input: &ValueInput) -> Result<(), PlanError> {
    for text in input.value.iter().chain(&input.default).chain(&input.choices) {
        check_text(what, text)?;
    }
    for (name, variable) in &input.variables {
        for text in variable.value.iter().chain(&variable.default).chain(&variable.choices) {
            check_text(&format!("{what}, variable `{name}`,"), text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
