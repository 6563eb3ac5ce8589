//! Makes a call of the parameters that were read, or says why that cannot be.

use serde_json::Value;

use crate::parse::arguments::{Arguments, read_arguments};
use crate::parse::call::{Field, OpenCall};
use crate::parse::decode::{decode, without_cdata};
use crate::parse::dialect::Dialect;
use crate::parse::errors::{JsonProblem, ParseError};
use crate::parse::nested;
use crate::parse::nested::Elements;
use crate::parse::piece::{Form, WrittenCall, WrittenTarget};

/// The call that the complete element means.
pub(super) fn written_call(
    call: &mut OpenCall,
    dialect: &Dialect,
) -> Result<WrittenCall, ParseError> {
    let fields = call.take_fields();
    let required = |name: &str| {
        word(&fields, name).ok_or_else(|| ParseError::MissingParameter {
            element: call.element().to_owned(),
            parameter: name.to_owned(),
        })
    };
    let mut notes = closing_notes(&fields);
    let (target, arguments) = match call.form() {
        Form::UseMcpTool => {
            let (server, tool) = (required("server_name")?, required("tool_name")?);
            let arguments = match fields.into_iter().find(|field| field.name == "arguments") {
                Some(field) => wrapped(field, &tool, dialect)?,
                None => Arguments::none(),
            };
            (WrittenTarget::Tool { server, tool }, arguments)
        }
        Form::AccessMcpResource => {
            let (server, uri) = (required("server_name")?, required("uri")?);
            (WrittenTarget::Resource { server, uri }, Arguments::none())
        }
        Form::Named => {
            let tool = call.element().to_owned();
            let members = fields.iter().map(|field| (field.name.as_str(), field.text.as_str()));
            let arguments = of_elements(members.collect(), dialect.schema(&tool))?;
            (WrittenTarget::Named { tool }, arguments)
        }
    };
    notes.extend(arguments.repaired);
    let repaired = (!notes.is_empty()).then(|| notes.join(", "));
    Ok(WrittenCall { target, arguments: arguments.text, repaired })
}

/// The value of the parameter as a word; nothing if it is missing or empty.
pub(super) fn word(fields: &[Field], name: &str) -> Option<String> {
    let text = decode(&fields.iter().find(|field| field.name == name)?.text);
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// The arguments inside of `<arguments>`: JSON as it is or in a CDATA section, or elements.
fn wrapped(field: Field, tool: &str, dialect: &Dialect) -> Result<Arguments, ParseError> {
    if let Some(parsed) = field.parsed {
        return parsed;
    }
    let text = field.text.trim();
    if let Some(inside) = without_cdata(text) {
        return read_arguments(inside);
    }
    if !text.starts_with('<') {
        return read_arguments(text);
    }
    let Some(members) = nested::children(text) else {
        let problem = JsonProblem::at("an element is not closed", text, 0);
        return Err(ParseError::Json(problem));
    };
    of_elements(members, dialect.schema(tool))
}

fn of_elements(
    members: Vec<(&str, &str)>,
    schema: Option<&Value>,
) -> Result<Arguments, ParseError> {
    let mut elements = Elements::default();
    elements.object(members, schema).map_err(ParseError::Json)?;
    let notes = elements.notes;
    let repaired = (!notes.is_empty()).then(|| notes.join(", "));
    Ok(Arguments { text: elements.text, repaired })
}

fn closing_notes(fields: &[Field]) -> Vec<String> {
    let mut notes = Vec::new();
    for field in fields.iter().filter(|field| field.badly_closed) {
        notes.push(format!("`{}` was not closed", field.name));
    }
    for field in fields.iter().filter(|field| field.again) {
        notes.push(format!("`{}` was given more than once and the last one counts", field.name));
    }
    notes
}
