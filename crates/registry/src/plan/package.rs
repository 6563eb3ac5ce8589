//! One package of `server.json` as a plan.

use crate::client::Reach;
use crate::plan::arguments::{check_input, items};
use crate::plan::error::PlanError;
use crate::plan::pinned;
use crate::plan::plan_type::{Body, Item, Plan, Questions, check_variable};
use crate::plan::runner::Runner;
use crate::plan::template::Template;
use crate::server_json::{KeyValue, Package};

/// The most arguments, variables or headers that a plan has.
const MOST: usize = 100;

/// What running a package would be.
pub(crate) fn of(package: &Package, reach: Reach) -> Result<Plan, PlanError> {
    if package.registry_type == "mcpb" {
        return bundle(package, reach);
    }
    let kind = package.registry_type.as_str();
    let hint = package.runtime_hint.as_deref();
    let Some(runner) = Runner::of(kind, hint) else {
        return Err(PlanError::NoRunner(kind.to_owned()));
    };
    let spec = match runner {
        Runner::Npx | Runner::Bunx => pinned::npm(package)?,
        Runner::Uvx => pinned::pypi(package)?,
        Runner::Dnx => pinned::nuget(package)?,
        Runner::Docker | Runner::Podman => pinned::image(package)?,
    };
    let transport = package.transport.as_ref().map_or("stdio", |transport| transport.kind.as_str());
    if !matches!(transport, "stdio" | "") {
        return Err(PlanError::Listens(spec));
    }
    let too_many = package.runtime_arguments.len() > MOST
        || package.package_arguments.len() > MOST
        || package.environment_variables.len() > MOST;
    if too_many {
        return Err(PlanError::Hostile {
            what: format!("the package `{spec}`"),
            why: format!("has more than {MOST} arguments or variables"),
        });
    }
    let mut questions = Questions::default();
    let env = variables(&package.environment_variables, &mut questions)?;
    let runtime = items(&package.runtime_arguments, &mut questions)?;
    let words = items(&package.package_arguments, &mut questions)?;
    let args = line(runner, &spec, runtime, words, &env)?;
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
    Ok(Plan {
        body: Body::Command { command, args, env },
        asked: questions.into_asked(),
        notes,
        reach,
    })
}

fn line(
    runner: Runner,
    spec: &str,
    runtime: Vec<Item>,
    words: Vec<Item>,
    env: &[(String, Item)],
) -> Result<Vec<Item>, PlanError> {
    let mut args = Vec::new();
    match runner {
        Runner::Npx => args.push(Item::fixed(["-y"])),
        Runner::Docker | Runner::Podman => args.push(Item::fixed(["run", "-i", "--rm"])),
        Runner::Bunx | Runner::Uvx | Runner::Dnx => {}
    }
    let said: &[&str] = match runner {
        Runner::Npx | Runner::Bunx => &["-y", "--yes"],
        Runner::Dnx => &["-y", "--yes"],
        Runner::Uvx => &[],
        Runner::Docker | Runner::Podman => &["run", "-i", "--interactive", "--rm"],
    };
    let accepted = runner.accepted(runtime, spec, said)?;
    if runner.is_container() {
        // A name alone: the value goes through the environment, where nobody else sees it.
        for (name, item) in env {
            let words = vec![Template::text("-e"), Template::text(name.as_str())];
            let needs = item.words.iter().flat_map(Template::names).map(str::to_owned).collect();
            args.push(Item { needs, ..Item::new(words) });
        }
    }
    if runner == Runner::Dnx {
        args.push(Item::fixed([spec]));
        args.push(Item::fixed(["--yes"]));
        args.extend(accepted);
        if !words.is_empty() {
            args.push(Item::fixed(["--"]));
        }
    } else {
        args.extend(accepted);
        args.push(Item::fixed([spec]));
    }
    args.extend(words);
    Ok(args)
}

fn variables(
    variables: &[KeyValue],
    questions: &mut Questions,
) -> Result<Vec<(String, Item)>, PlanError> {
    let mut read = Vec::new();
    for variable in variables {
        check_variable(&variable.name)?;
        check_input(&format!("the variable `{}`", variable.name), &variable.input)?;
        let value = questions.value(&variable.name, &variable.input);
        let item = Item { required: variable.input.is_required, ..Item::new(vec![value]) };
        read.push((variable.name.clone(), item));
    }
    Ok(read)
}

fn bundle(package: &Package, reach: Reach) -> Result<Plan, PlanError> {
    let url = &package.identifier;
    reach.check(url).map_err(|why| PlanError::Hostile {
        what: "the address of the bundle".to_owned(),
        why: format!("cannot be visited: {why}"),
    })?;
    let digest = package.file_sha256.as_deref().map(str::to_ascii_lowercase);
    let is_digest =
        |digest: &String| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sha256 = digest.filter(is_digest).ok_or_else(|| PlanError::NoDigest(url.clone()))?;
    Ok(Plan {
        body: Body::Bundle { url: url.clone(), sha256 },
        asked: Vec::new(),
        notes: Vec::new(),
        reach,
    })
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
