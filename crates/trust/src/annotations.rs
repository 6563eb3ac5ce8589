//! What servers say about their tools, as far as it was approved or is held.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_config::Config;
use switchboard_core::{Target, TargetKind};

use crate::pins_file::{PinKind, Pins};

/// The annotations of tools. A recorded call has only the fingerprint of its definition, so this is
/// what servers said last.
#[derive(Debug, Default)]
pub struct PinnedAnnotations(HashMap<(String, String), Box<RawValue>>);

impl PinnedAnnotations {
    /// Reads what the pins below `state` know of the servers.
    #[must_use]
    pub fn load(state: &Path, config: &Config) -> Self {
        #[derive(Deserialize)]
        struct AnnotatedTool {
            annotations: Option<Box<RawValue>>,
        }
        let mut all = HashMap::new();
        for server in config.servers.values() {
            // Without pins nothing is known of its tools.
            let pins = Pins::load(state, &server.identity()).unwrap_or_default();
            for book in [&pins.held, &pins.approved] {
                for (name, item) in book.get(&PinKind::Tool).into_iter().flatten() {
                    let tool = serde_json::from_str::<AnnotatedTool>(item.definition.get());
                    if let Ok(AnnotatedTool { annotations: Some(annotations) }) = tool {
                        all.insert((server.id.to_string(), name.clone()), annotations);
                    }
                }
            }
        }
        Self(all)
    }

    /// The annotations of a tool, as JSON.
    #[must_use]
    pub fn get(&self, target: &Target) -> Option<&str> {
        let key = (target.server.clone(), target.name.clone());
        self.0.get(&key).filter(|_| target.kind == TargetKind::Tool).map(|raw| raw.get())
    }
}
