//! What a server asks for before it can be added: from `--set`, or from the person.

use switchboard_registry::plan::{Asked, InstallAnswers, InstallPlan};
use switchboard_terminal::{CliError, ask_line, ask_secret_line, exit_code, has_person};
use switchboard_text::escape_line;

use crate::commands::registry::question;
use crate::context::CommandContext;

/// The longest file that an answer is read from, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1_024;

/// Every answer that is needed; what is only possible is mentioned.
pub(crate) async fn answers(
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
            context.printer.say(&format!("  may be set: {}", question(asked)));
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

async fn ask_question(asked: &Asked) -> Result<String, CliError> {
    let prompt = format!("{}\n{}: ", question(asked), escape_line(&asked.name));
    let said = match asked.secret {
        true => Some(ask_secret_line(&prompt).await?),
        false => ask_line(&prompt).await,
    };
    let said = said.map(|said| said.trim_end_matches(['\r', '\n']).to_owned());
    said.filter(|said| !said.is_empty()).ok_or_else(|| {
        CliError::new(exit_code::NOT_ALLOWED, format!("`{}` was not answered", asked.name))
    })
}
