//! The arguments of a package as items of a command line.

use crate::plan::error::PlanError;
use crate::plan::input::{Asked, Format};
use crate::plan::plan_type::{Item, Questions, check_text};
use crate::plan::template::Template;
use crate::server_json::{Argument, Input};

/// Every argument, in order.
pub(crate) fn items(
    arguments: &[Argument],
    questions: &mut Questions,
) -> Result<Vec<Item>, PlanError> {
    let numbered = arguments.iter().enumerate();
    numbered.map(|(index, argument)| item(argument, index + 1, questions)).collect()
}

fn item(argument: &Argument, number: usize, questions: &mut Questions) -> Result<Item, PlanError> {
    let input = &argument.input;
    check_input(&format!("argument {number}"), input)?;
    let name = argument.name.as_deref().filter(|_| argument.kind != "positional");
    let Some(name) = name else {
        let asked = argument.value_hint.clone().unwrap_or_else(|| format!("argument-{number}"));
        let value = value(&asked, argument, questions);
        return Ok(Item { required: input.is_required, ..Item::new(vec![value]) });
    };
    check_text(&format!("argument {number}"), name)?;
    if name.is_empty() || name.contains(char::is_whitespace) {
        let what = format!("argument {number}");
        return Err(PlanError::Hostile { what, why: "has a name that is not taken".to_owned() });
    }
    let flag = Template::text(name);
    let plain = name.trim_start_matches('-').to_owned();
    if let (None, Format::Boolean) = (&input.value, Format::of(input.format.as_deref())) {
        let when = questions.ask(Asked::of(&plain, input), "argument");
        return Ok(Item { when: Some(when), ..Item::new(vec![flag]) });
    }
    if is_bare(argument) {
        return Ok(Item { required: true, ..Item::new(vec![flag]) });
    }
    let value = value(&plain, argument, questions);
    Ok(Item { required: input.is_required, ..Item::new(vec![flag, value]) })
}

fn value(name: &str, argument: &Argument, questions: &mut Questions) -> Template {
    let input = &argument.input;
    match &input.value {
        Some(_) => questions.value(name, input),
        None => {
            let asked = Asked { repeated: argument.is_repeated, ..Asked::of(name, input) };
            Template::asked(questions.ask(asked, "argument"))
        }
    }
}

/// A switch that takes no value: nothing about it speaks of one.
fn is_bare(argument: &Argument) -> bool {
    let input = &argument.input;
    let speaks =
        [&input.value, &input.default, &input.format, &input.placeholder, &argument.value_hint];
    speaks.iter().all(|said| said.is_none()) && input.choices.is_empty() && !input.is_required
}

/// Everything that could end up in a command without a person having typed it.
pub(crate) fn check_input(what: &str, input: &Input) -> Result<(), PlanError> {
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
