//! Construction of a call from its parsed parameters.

use serde_json::Value;

use crate::parse::arguments::{ParsedArguments, read_arguments};
use crate::parse::call::{CallField, CallScan};
use crate::parse::decode::{decode, without_cdata};
use crate::parse::dialect::CallDialect;
use crate::parse::errors::{JsonProblem, ParseError};
use crate::parse::nested::{self, ElementWriter};
use crate::parse::piece::{WrittenCall, WrittenForm, WrittenTarget};

/// Builds the call of a complete element.
pub(super) fn build_call(
    call: &mut CallScan,
    dialect: &CallDialect,
) -> Result<WrittenCall, ParseError> {
    let fields = std::mem::take(&mut call.fields);
    let required = |name: &str| {
        field_word(&fields, name).ok_or_else(|| ParseError::MissingParameter {
            element: call.element.clone(),
            parameter: name.to_owned(),
        })
    };
    let mut notes = closing_notes(&fields);
    // In Cline's order, server before tool before arguments: the first error is the one reported.
    let (target, arguments) = match call.form {
        WrittenForm::UseMcpTool => {
            let server = required("server_name")?;
            let tool = required("tool_name")?;
            let arguments = match fields.into_iter().find(|field| field.name == "arguments") {
                Some(field) => read_wrapped(field, &tool, dialect)?,
                None => ParsedArguments::empty(),
            };
            (WrittenTarget::Tool { server, tool }, arguments)
        }
        WrittenForm::AccessMcpResource => {
            let server = required("server_name")?;
            let uri = required("uri")?;
            (WrittenTarget::Resource { server, uri }, ParsedArguments::empty())
        }
        WrittenForm::Named => {
            let tool = call.element.clone();
            let members = fields.iter().map(|field| (field.name.as_str(), field.text.as_str()));
            let arguments = from_elements(members.collect(), dialect.schema(&tool))?;
            (WrittenTarget::Named { tool }, arguments)
        }
    };
    notes.extend(arguments.repaired);
    let repaired = (!notes.is_empty()).then(|| notes.join(", "));
    Ok(WrittenCall { target, arguments: arguments.text, repaired })
}

/// Returns the trimmed value of a parameter, or `None` if it is missing or empty.
pub(super) fn field_word(fields: &[CallField], name: &str) -> Option<String> {
    let text = decode(&fields.iter().find(|field| field.name == name)?.text);
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Parses the content of `<arguments>`: JSON, optionally in a CDATA section, or elements.
fn read_wrapped(
    field: CallField,
    tool: &str,
    dialect: &CallDialect,
) -> Result<ParsedArguments, ParseError> {
    // The scanner parses JSON to find its end, and keeps the result.
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
    from_elements(members, dialect.schema(tool))
}

fn from_elements(
    members: Vec<(&str, &str)>,
    schema: Option<&Value>,
) -> Result<ParsedArguments, ParseError> {
    let mut elements = ElementWriter::default();
    elements.object(members, schema, 0).map_err(ParseError::Json)?;
    let notes = elements.notes;
    let repaired = (!notes.is_empty()).then(|| notes.join(", "));
    Ok(ParsedArguments { text: elements.text, repaired })
}

fn closing_notes(fields: &[CallField]) -> Vec<String> {
    let mut notes = Vec::new();
    for field in fields.iter().filter(|field| field.badly_closed) {
        notes.push(format!("`{}` was not closed", field.name));
    }
    for field in fields.iter().filter(|field| field.is_repeated) {
        notes.push(format!("`{}` was given more than once and the last one counts", field.name));
    }
    notes
}
