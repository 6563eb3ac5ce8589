//! What a person does through the console. Every call takes the host's line, like everybody's.

mod apps;
mod body;
mod calls;
mod complete;
mod conversations;
mod entries;
mod logins;
mod other_products;
mod pins;
mod policy;
mod programs;
mod registry;
mod responses;
mod reviews;
mod servers;
mod sign_in;

pub(crate) use apps::{CallForApp, ReadForApp, call_for_app, open_app, read_for_app};
pub(crate) use calls::{
    WhichResource, WithArguments, call_again, call_tool, get_prompt, read_resource,
};
pub(crate) use complete::{ToComplete, complete};
pub(crate) use conversations::{
    Directed, NewSession, Said, begin_session, control_session, say, stream_session,
};
pub(crate) use entries::{ApprovedEntry, ChangedEntry, NewEntry, add, approve, edit, remove};
pub(crate) use logins::{PendingLogins, log_in, log_out, login_callback};
pub(crate) use other_products::{Taken, discover, import, preview};
pub(crate) use pins::{ApprovedPins, RevokedPin, approve_pins, revoke_pin};
pub(crate) use policy::{ChangedRules, Tried, explain, what_if};
pub(crate) use programs::{QuestionAnswered, answer_call, give_up_call, make_call};
pub(crate) use registry::{
    AddedFromRegistry, RegistryWords, WhichInRegistry, add_from_registry, preview_registry,
    search_registry, show_registry,
};
pub(crate) use responses::{
    AnswerTaken, AppOpened, CallGivenUp, Completion, InSession, LoggedOut, LoginBegun, PinRevoked,
    PinsApproved, ReviewAnswered, ServerAdded, ServerApproved, ServerChanged, ServerRemoved,
    ServerRestarting, ServerSwitched, SignedOut,
};
pub(crate) use reviews::{AnswerGiven, answer_review};
pub(crate) use servers::{disable, enable, restart};
pub(crate) use sign_in::{new_link, sign_out};
