//! A recorded call as rules see it, to be decided once more.

use super::reader::Full;
use crate::caller::Caller;
use crate::config::Annotations;
use crate::policy::Past;
use crate::proposed::Target;

impl Full {
    /// What rules see of this call, with what its server says about the tool.
    #[must_use]
    pub fn past(&self, annotations: &Annotations) -> Past {
        let summary = &self.summary;
        let bytes = self.sent_arguments.as_ref().unwrap_or(&self.arguments);
        let target = Target::new(summary.kind, &summary.server, &summary.target);
        Past {
            annotations: annotations.of(&target).map(str::to_owned),
            target,
            arguments: String::from_utf8_lossy(bytes).into_owned(),
            caller: Caller::recorded(&summary.face, &summary.caller, self.reference.clone()),
            was_sent: self.intent_at.is_some(),
        }
    }
}
