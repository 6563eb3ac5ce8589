//! The resources: a help page, and every file in the shared folders by its `file:` URI.

use serde_json::{Value, json};
use switchboard_files::uri_to_path;

use crate::error::{BuiltinRpcError, ToolRefusal};
use crate::read::OpenedFile;
use crate::request::RequestEra;
use crate::roots::RootedPath;
use crate::server::{BuiltinReply, ToolContext, single_member};
use crate::sniff::ContentKind;
use crate::{content, display_text};

const HELP_URI: &str = "switchboard://builtin/help";
const MAX_FILE_BYTES: u64 = 1024 * 1024;
const HOUR_MS: u64 = 3_600_000;

pub(crate) fn list() -> Value {
    json!([{
        "uri": HELP_URI,
        "name": "help",
        "title": "Help for the built-in tools",
        "description": "What the built-in server can do and which folders it reads.",
        "mimeType": "text/plain"
    }])
}

pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "file:///{path}",
        "name": "file",
        "title": "A file",
        "description": "A file of up to 1 MiB in the shared folders, by its absolute path."
    }])
}

pub(crate) fn read(
    around: &ToolContext,
    uri: &str,
    era: RequestEra,
) -> Result<BuiltinReply, BuiltinRpcError> {
    if uri == HELP_URI {
        let item = json!({ "uri": uri, "mimeType": "text/plain", "text": help(around) });
        return Ok(BuiltinReply::private(single_member("contents", json!([item])), HOUR_MS));
    }
    let found = match uri_to_path(uri) {
        Some(Ok(path)) => file(around, &path, uri),
        Some(Err(_)) => Err(bad_address()),
        None => {
            let mut refusal =
                ToolRefusal::new(format!("there is no resource `{}`", display_text::brief(uri)));
            refusal.missing = true;
            Err(refusal)
        }
    };
    match found {
        Ok(item) => Ok(BuiltinReply::private(single_member("contents", json!([item])), 0)),
        Err(refusal) => {
            let text = refusal.full_text();
            let error = match era {
                RequestEra::Legacy if refusal.missing => {
                    BuiltinRpcError::legacy_resource_missing(text)
                }
                _ => BuiltinRpcError::invalid_params(text),
            };
            Err(error.with_data(json!({ "uri": uri })))
        }
    }
}

fn file(around: &ToolContext, path: &str, uri: &str) -> Result<Value, ToolRefusal> {
    embed_resource(&around.roots.resolve(path)?, path, uri)
}

fn bad_address() -> ToolRefusal {
    ToolRefusal::new("the address is not of the form `file:///path` on this machine")
        .with_hint("percent-encode what is not a plain character, in UTF-8")
}

/// Returns a file in the protocol's resource format.
pub(crate) fn embed_resource(
    place: &RootedPath,
    path: &str,
    uri: &str,
) -> Result<Value, ToolRefusal> {
    let disk = |problem| ToolRefusal::from_io_error(path, &problem);
    let opened = OpenedFile::new(place).map_err(disk)?;
    let nature = opened.nature;
    let bytes = opened.read_whole(MAX_FILE_BYTES).map_err(disk)?.ok_or_else(|| {
        ToolRefusal::new(format!(
            "`{}` is larger than {MAX_FILE_BYTES} bytes",
            display_text::brief(path)
        ))
        .with_hint("read it piece by piece with `files_read`")
    })?;
    let blob = |mime_type: &str, bytes: &[u8]| json!({ "uri": uri, "mimeType": mime_type, "blob": content::to_base64(bytes) });
    Ok(match nature {
        ContentKind::Image(mime_type) => blob(mime_type, &bytes),
        ContentKind::Binary(_) => blob("application/octet-stream", &bytes),
        ContentKind::Text => match String::from_utf8(bytes) {
            Ok(text) => json!({ "uri": uri, "mimeType": "text/plain", "text": text }),
            Err(odd) => blob("application/octet-stream", odd.as_bytes()),
        },
    })
}

fn help(around: &ToolContext) -> String {
    format!(
        "The built-in server works with nothing installed and changes nothing.\n\
         \n\
         echo          gives back a text, to try out a connection\n\
         time_now      the time here or in another zone\n\
         time_convert  what a time in one zone is in another\n\
         files_list    what is in a folder\n\
         files_read    a text file by lines, or a picture\n\
         files_search  the lines that contain a text\n\
         \n\
         As for files: {}. Links that lead out, devices and pipes are refused.\n",
        around.roots.describe()
    )
}
