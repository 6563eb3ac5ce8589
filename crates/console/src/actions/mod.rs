//! Actions that a person takes through the console. Every call goes through the host's pipeline.

mod apps;
mod body;
mod calls;
mod conversations;
mod decisions;
mod entries;
mod imports;
mod logins;
mod policy;
mod programs;
mod responses;

pub(crate) use apps::{CallForApp, ReadForApp, call_for_app, open_app, read_for_app};
pub(crate) use calls::{
    WhichResource, WithArguments, call_again, call_tool, complete, get_prompt, read_resource,
};
pub(crate) use conversations::{
    Directed, NewSession, Said, begin_session, control_session, say, stream_session,
};
pub(crate) use decisions::{
    AnswerGiven, ApprovedPins, RevokedPin, answer_review, approve_pins, revoke_pin,
};
pub(crate) use entries::{
    ApprovedEntry, ChangedEntry, NewEntry, add, approve, disable, edit, enable, remove, restart,
};
pub(crate) use imports::{
    AddedFromRegistry, RegistryWords, Taken, WhichInRegistry, add_from_registry, discover, import,
    preview, preview_registry, search_registry, show_registry,
};
pub(crate) use logins::{PendingLogins, log_in, log_out, login_callback};
pub(crate) use policy::{ChangedRules, Tried, explain, what_if};
pub(crate) use programs::{answer_call, give_up_call, make_call};
pub(crate) use responses::{
    AnswerTaken, AppOpened, CallGivenUp, InSession, LoggedOut, LoginBegun, PinRevoked,
    PinsApproved, ReviewAnswered, ServerAdded, ServerApproved, ServerChanged, ServerRemoved,
    ServerRestarting, ServerSwitched, SignedOut,
};
