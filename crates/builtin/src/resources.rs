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
        "description": "The tools of the built-in server, and the folders that it can read.",
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
        Some(Ok(path)) => {
            let place = around.roots.resolve(&path);
            place.and_then(|place| embed_resource(&place, &path, uri))
        }
        Some(Err(_)) => Err(bad_address()),
        None => {
            let mut refusal =
                ToolRefusal::new(format!("unknown resource `{}`", display_text::brief(uri)));
            refusal.missing = true;
            Err(refusal)
        }
    };
    match found {
        // Not cacheable: a file can change at any time.
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

fn bad_address() -> ToolRefusal {
    ToolRefusal::new("the URI must have the form `file:///path`, on this machine")
        .with_hint("percent-encode special characters as UTF-8")
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
        let name = display_text::brief(path);
        ToolRefusal::new(format!("`{name}` is larger than {MAX_FILE_BYTES} bytes"))
            .with_hint("read it in parts with `files_read`")
    })?;
    let blob = |mime_type: &str, bytes: &[u8]| json!({ "uri": uri, "mimeType": mime_type, "blob": content::to_base64(bytes) });
    Ok(match nature {
        ContentKind::Image(mime_type) => blob(mime_type, &bytes),
        ContentKind::Binary(_) => blob("application/octet-stream", &bytes),
        ContentKind::Text => match String::from_utf8(bytes) {
            Ok(text) => json!({ "uri": uri, "mimeType": "text/plain", "text": text }),
            // Only the head of the file was examined, so invalid UTF-8 may follow.
            Err(odd) => blob("application/octet-stream", odd.as_bytes()),
        },
    })
}

fn help(around: &ToolContext) -> String {
    format!(
        "The built-in server needs no installation, and its tools are read-only.\n\
         \n\
         echo          returns a text, to test a connection\n\
         time_now      the current time, here or in another zone\n\
         time_convert  converts a time between zones\n\
         files_list    lists the contents of a folder\n\
         files_read    reads the lines of a text file, or an image\n\
         files_search  finds the lines that contain a text\n\
         \n\
         Files: {}. Links that lead outside, devices and pipes are rejected.\n",
        around.roots.describe()
    )
}
