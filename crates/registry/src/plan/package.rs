//! One package of `server.json` as a plan.

use crate::client::RegistryReach;
use crate::plan::arguments::{check_input, items};
use crate::plan::error::PlanError;
use crate::plan::exact_version;
use crate::plan::install_plan::{InstallPlan, PlanBody, PlanItem, PlanQuestions, check_variable};
use crate::plan::runner::PackageRunner;
use crate::plan::template::Template;
use crate::server_json::{KeyValue, RegistryPackage};

/// The most arguments, variables or headers that a plan has.
const MAX_ITEMS: usize = 100;

/// What running a package would be.
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
        notes.push(format!("it asks to be run by `{hint}`; `{}` is used", runner.command()));
    }
    if let Some(base) = &package.registry_base_url {
        let command = runner.command();
        notes.push(format!(
            "it says that it comes from {base}; `{command}` fetches it from where it is set up to"
        ));
    }
    if runner.is_container() && !spec.contains("@sha256:") {
        notes.push("the image is named by a tag, which its owner can move".to_owned());
    }
    let command = Template::text(runner.command());
    Ok(InstallPlan {
        body: PlanBody::Command { command, args, env },
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
        PackageRunner::Npx | PackageRunner::Bunx => &["-y", "--yes"],
        PackageRunner::Dnx => &["-y", "--yes"],
        PackageRunner::Uvx => &[],
        PackageRunner::Docker | PackageRunner::Podman => &["run", "-i", "--interactive", "--rm"],
    };
    let accepted = runner.accept_items(runtime, spec, said)?;
    if runner.is_container() {
        // A name alone: the value goes through the environment, where nobody else sees it.
        for (name, item) in env {
            let words = vec![Template::text("-e"), Template::text(name.as_str())];
            let needs = item.words.iter().flat_map(Template::names).map(str::to_owned).collect();
            args.push(PlanItem { needs, ..PlanItem::new(words) });
        }
    }
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
        why: format!("cannot be visited: {why}"),
    })?;
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

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
