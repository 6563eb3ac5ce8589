//! A server in the text section: its name, instructions, tools, resources and prompts.

use std::fmt::Write;

use crate::prompt::clean::{
    clean, clean_line, code_span, element_text, indent_lines, wrap_in_fence,
};
use crate::prompt::options::{CallForm, PromptOptions};
use crate::prompt::schema::{ObjectSchema, object_schema};
use crate::prompt::views::{ShownPrompt, ShownServer, ShownTool};
use crate::prompt::{fixed_text, parameters, sample};

/// Writes a server, without the parts that have no entries.
pub(crate) fn write_server(out: &mut String, server: &ShownServer<'_>, options: &PromptOptions) {
    line(out, format_args!("## Server {}", code_span(server.name)));
    if let Some(command) = server.command_line {
        line(out, format_args!("Started with {}.", code_span(command)));
    }
    if let Some(trouble) = server.trouble {
        line(out, format_args!("Trouble: {}", clean_line(trouble, options.max_description_chars)));
    }
    let notes = clean(server.instructions.unwrap_or_default(), options.max_instruction_chars);
    if !notes.is_empty() {
        out.push_str(fixed_text::SERVER_NOTES);
        out.push_str(&wrap_in_fence(&notes));
    }
    if !server.tools.is_empty() {
        line(out, format_args!("\n### Tools of {}", code_span(server.name)));
        for tool in &server.tools {
            write_tool(out, server, tool, options);
        }
    }
    write_rest(out, server, options);
}

pub(crate) fn write_rest(out: &mut String, server: &ShownServer<'_>, options: &PromptOptions) {
    if !server.resources.is_empty() {
        line(out, format_args!("\n### Resources of {}", code_span(server.name)));
        for resource in &server.resources {
            let about = ResourceEntry {
                name: resource.name,
                media: resource.mime_type,
                description: resource.description,
            };
            about.write(out, resource.uri, options);
        }
    }
    if !server.templates.is_empty() {
        line(
            out,
            format_args!("\n### Resource addresses of {} to fill in", code_span(server.name)),
        );
        for template in &server.templates {
            let about = ResourceEntry {
                name: template.name,
                media: template.mime_type,
                description: template.description,
            };
            about.write(out, template.uri_template, options);
        }
    }
    if !server.prompts.is_empty() {
        line(
            out,
            format_args!("\n### Prompts of {}, for the user to start", code_span(server.name)),
        );
        for prompt in &server.prompts {
            write_prompt(out, prompt, options);
        }
    }
}

pub(crate) fn write_tool(
    out: &mut String,
    server: &ShownServer<'_>,
    tool: &ShownTool<'_>,
    options: &PromptOptions,
) {
    let title = clean_line(tool.title.unwrap_or_default(), 200);
    if title.is_empty() || title == tool.name {
        line(out, format_args!("- {}", code_span(tool.name)));
    } else {
        line(out, format_args!("- {} ({title})", code_span(tool.name)));
    }
    let described = clean(tool.description.unwrap_or_default(), options.max_description_chars);
    out.push_str(&indent_lines(&described, "    "));
    let schema = object_schema(tool.input_schema);
    let parameters = parameters::lines(&schema, "      ", options.max_description_chars);
    if parameters.is_empty() {
        out.push_str("    No arguments.\n");
    } else {
        out.push_str("    Arguments:\n");
        out.push_str(&parameters);
    }
    if options.examples {
        line(out, format_args!("    Example: {}", example(server, tool, &schema, options)));
    }
}

fn example(
    server: &ShownServer<'_>,
    tool: &ShownTool<'_>,
    schema: &ObjectSchema,
    options: &PromptOptions,
) -> String {
    let arguments = sample::arguments(schema);
    let tags_fit = is_tag(tool.model_name) && arguments.iter().all(|(name, _)| is_tag(name));
    if options.call_form == CallForm::ToolTags && tags_fit && !schema.wrapped {
        let mut out = format!("<{}>", tool.model_name);
        for (name, value) in arguments {
            let text = match value {
                serde_json::Value::String(text) => element_text(&text),
                other => sample::element_json(&other),
            };
            // Writing to a string cannot fail.
            let _ok = write!(out, "<{name}>{text}</{name}>");
        }
        let _ok = write!(out, "</{}>", tool.model_name);
        return out;
    }
    // Not through `Value`, which sorts the arguments.
    let fields: Vec<String> = arguments
        .iter()
        .map(|(name, value)| {
            let name = sample::element_json(&name.as_str().into());
            format!("{name}: {}", sample::element_json(value))
        })
        .collect();
    format!(
        "<use_mcp_tool><server_name>{}</server_name><tool_name>{}</tool_name><arguments>{{{}}}</arguments></use_mcp_tool>",
        element_text(server.name),
        element_text(tool.name),
        fields.join(", "),
    )
}

fn is_tag(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

struct ResourceEntry<'a> {
    name: &'a str,
    media: Option<&'a str>,
    description: Option<&'a str>,
}

impl ResourceEntry<'_> {
    fn write(&self, out: &mut String, address: &str, options: &PromptOptions) {
        let mut notes = vec![clean_line(self.name, 200)];
        notes.push(clean_line(self.media.unwrap_or_default(), 100));
        notes.retain(|note| !note.is_empty());
        let mut text = format!("- {}", code_span(address));
        if !notes.is_empty() {
            text.push_str(&format!(" ({})", notes.join(", ")));
        }
        push_description(&mut text, self.description, options);
        line(out, format_args!("{text}"));
    }
}

fn write_prompt(out: &mut String, prompt: &ShownPrompt<'_>, options: &PromptOptions) {
    let mut text = format!("- {}", code_span(prompt.name));
    push_description(&mut text, prompt.description, options);
    line(out, format_args!("{text}"));
    for argument in &prompt.arguments {
        let needed = if argument.required { "required" } else { "optional" };
        let mut text = format!("      - {} ({needed})", code_span(argument.name));
        push_description(&mut text, argument.description, options);
        line(out, format_args!("{text}"));
    }
}

fn push_description(text: &mut String, description: Option<&str>, options: &PromptOptions) {
    let described = clean_line(description.unwrap_or_default(), options.max_description_chars);
    if !described.is_empty() {
        text.push_str(": ");
        text.push_str(&described);
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ok = writeln!(out, "{text}");
}
