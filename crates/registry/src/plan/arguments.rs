//! The arguments of a package as items of a command line.

use crate::plan::error::PlanError;
use crate::plan::install_plan::{PlanItem, PlanQuestions, check_text};
use crate::plan::question::{Asked, Format};
use crate::plan::template::Template;
use crate::server_json::{PackageArgument, ValueInput};

/// Every argument, in order.
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
        return Err(PlanError::Hostile { what, why: "has a name that is not taken".to_owned() });
    }
    let flag = Template::text(name);
    let plain = name.trim_start_matches('-').to_owned();
    if let (None, Format::Boolean) = (&input.value, Format::from_word(input.format.as_deref())) {
        let when = questions.ask(Asked::from_input(&plain, input), "argument");
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
            let asked = Asked { repeated: argument.is_repeated, ..Asked::from_input(name, input) };
            Template::from_answer(questions.ask(asked, "argument"))
        }
    }
}

/// A switch that takes no value: nothing about it speaks of one.
fn is_bare(argument: &PackageArgument) -> bool {
    let input = &argument.input;
    let speaks =
        [&input.value, &input.default, &input.format, &input.placeholder, &argument.value_hint];
    speaks.iter().all(|said| said.is_none()) && input.choices.is_empty() && !input.is_required
}

/// Everything that could end up in a command without a person having typed it.
pub(crate) fn check_input(what: &str, input: &ValueInput) -> Result<(), PlanError> {
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
