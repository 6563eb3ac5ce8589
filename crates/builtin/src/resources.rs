//! The resources: a page of help, and every file in the shared folders by its `file:` address.

use serde_json::{Value, json};
use switchboard_files::file_uri;

use crate::error::{Refusal, RpcError};
use crate::read::Opened;
use crate::request::Era;
use crate::roots::Place;
use crate::server::{Reply, Surroundings, one};
use crate::sniff::Nature;
use crate::{content, display_text};

const HELP: &str = "switchboard://builtin/help";
const LARGEST: u64 = 1024 * 1024;
const HOUR_MS: u64 = 3_600_000;

/// What `resources/list` shows.
pub(crate) fn list() -> Value {
    json!([{
        "uri": HELP,
        "name": "help",
        "title": "Help for the built-in tools",
        "description": "What the built-in server can do and which folders it reads.",
        "mimeType": "text/plain"
    }])
}

/// What `resources/templates/list` shows.
pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "file:///{path}",
        "name": "file",
        "title": "A file",
        "description": "A file of up to 1 MiB in the shared folders, by its absolute path."
    }])
}

/// Answers `resources/read`.
pub(crate) fn read(around: &Surroundings, uri: &str, era: Era) -> Result<Reply, RpcError> {
    if uri == HELP {
        let item = json!({ "uri": uri, "mimeType": "text/plain", "text": help(around) });
        return Ok(Reply::private(one("contents", json!([item])), HOUR_MS));
    }
    let found = match file_uri::to_path(uri) {
        Some(Ok(path)) => file(around, &path, uri),
        Some(Err(_)) => Err(bad_address()),
        None => {
            let mut refusal =
                Refusal::new(format!("there is no resource `{}`", display_text::brief(uri)));
            refusal.missing = true;
            Err(refusal)
        }
    };
    match found {
        Ok(item) => Ok(Reply::private(one("contents", json!([item])), 0)),
        Err(refusal) => {
            let text = refusal.full_text();
            let error = match era {
                Era::Legacy if refusal.missing => RpcError::legacy_resource_missing(text),
                _ => RpcError::invalid(text),
            };
            Err(error.with_data(json!({ "uri": uri })))
        }
    }
}

fn file(around: &Surroundings, path: &str, uri: &str) -> Result<Value, Refusal> {
    embedded(&around.roots.resolve(path)?, path, uri)
}

fn bad_address() -> Refusal {
    Refusal::new("the address is not of the form `file:///path` on this machine")
        .hint("percent-encode what is not a plain character, in UTF-8")
}

/// A file as the protocol carries resources.
pub(crate) fn embedded(place: &Place, path: &str, uri: &str) -> Result<Value, Refusal> {
    let disk = |problem| Refusal::disk(path, &problem);
    let opened = Opened::new(place).map_err(disk)?;
    let nature = opened.nature;
    let bytes = opened.whole(LARGEST).map_err(disk)?.ok_or_else(|| {
        Refusal::new(format!("`{}` is larger than {LARGEST} bytes", display_text::brief(path)))
            .hint("read it piece by piece with `files_read`")
    })?;
    let blob = |mime_type: &str, bytes: &[u8]| json!({ "uri": uri, "mimeType": mime_type, "blob": content::encoded(bytes) });
    Ok(match nature {
        Nature::Image(mime_type) => blob(mime_type, &bytes),
        Nature::Binary(_) => blob("application/octet-stream", &bytes),
        Nature::Text => match String::from_utf8(bytes) {
            Ok(text) => json!({ "uri": uri, "mimeType": "text/plain", "text": text }),
            Err(odd) => blob("application/octet-stream", odd.as_bytes()),
        },
    })
}

fn help(around: &Surroundings) -> String {
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
        around.roots.allowed()
    )
}
