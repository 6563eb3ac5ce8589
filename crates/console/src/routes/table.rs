//! The table of all routes, from which the `OpenAPI` document is generated.

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use switchboard_fleet::Completion;
use switchboard_views::{
    CallQuery, CallShown, CallUpdate, CallsShown, CatalogItem, CatalogQuery, CatalogTool,
    CompletedCall, ExplainedShown, HeldServerShown, OfferedPrompt, OverviewShown, PolicyShown,
    QuestionAnswered, ResourcesShown, ReviewShown, ServerQuery, ServerRow, ServerShown, ToComplete,
    ToolQuery, ToolRow, ToolShown, WantedCall, WhatIfShown,
};

use super::route::{
    ConsoleRoute, RequiredAuth, ResponseKind, json, schema_for, sent_result, this_document,
};
use crate::actions::{
    AddedFromRegistry, AnswerGiven, AnswerTaken, AppOpened, ApprovedEntry, ApprovedPins,
    CallForApp, CallGivenUp, ChangedEntry, ChangedRules, Directed, InSession, LoggedOut,
    LoginBegun, NewEntry, NewSession, PinRevoked, PinsApproved, ReadForApp, RegistryWords,
    ReviewAnswered, RevokedPin, Said, ServerAdded, ServerApproved, ServerChanged, ServerRemoved,
    ServerRestarting, ServerSwitched, SignedOut, Taken, Tried, WhichInRegistry, WhichResource,
    WithArguments,
};
use crate::entry::TypedEntry;
use crate::other_products::Proposal;
use crate::views::registry::{Chosen, FilledIn, RegistryFound, RegistryShown};
use crate::views::{EntryShown, SessionRow, SessionShown};
use crate::{actions, api, apps, assets, auth, live, openapi, pages, views};

/// Maximum length of a program's call. Arguments may contain whole files in base64.
const MAX_CALL_BYTES: usize = 64 << 20;

pub(crate) fn all() -> impl Iterator<Item = &'static ConsoleRoute> {
    [PAGES, API, &[CALL]].into_iter().flatten()
}

/// Builds a table of routes: method, authentication unless it is the default, path, handler,
/// `query` or `takes` with the type of the query or the body, `=>` response format, and summary.
macro_rules! routes {
    ($($method:ident $(($proof:ident))? $path:literal $module:ident::$handler:ident
        $($with:ident $shape:ty)? $(=> $gives:expr, $about:literal)?;)*) => {
        &[$(
            ConsoleRoute {
                path: $path,
                serve: || $method($module::$handler),
                $(proof: RequiredAuth::$proof,)?
                $(about: $about, gives: $gives,)?
                ..ConsoleRoute::$method()
            }$(.$with::<$shape>())?,
        )*]
    };
}

const PAGES: &[ConsoleRoute] = routes! {
    get "/" pages::overview;
    get "/servers" pages::servers;
    get "/servers/{server}" pages::server;
    get "/add-server" pages::add_server;
    get "/servers/{server}/edit" pages::edit_server;
    get "/tools" pages::tools;
    get "/tools/{server}/{tool}" pages::tool;
    get "/resources" pages::resources;
    get "/prompts/{server}/{prompt}" pages::prompt;
    get "/calls" pages::calls;
    get "/calls/{id}" pages::call;
    get "/reviews" pages::reviews;
    get "/sessions" pages::sessions;
    get "/sessions/{session}" pages::session;
    get "/policy" pages::policy;
    get (Nothing) "/callback" actions::login_callback;
    get (Nothing) "/frame/{word}" apps::frame;
    get (Nothing) "/assets/{file}" assets::asset;
    post (Nothing) "/sign-in/link" auth::new_link;
};

const API: &[ConsoleRoute] = routes! {
    // Servers.
    get "/api/v1/servers" api::servers => json::<Vec<ServerRow>>(),
        "List all servers with their states";
    get "/api/v1/servers/{server}" api::server => json::<ServerShown>(),
        "Get a server with its offers, log and messages";
    post "/api/v1/servers/{server}/restart" actions::restart => json::<ServerRestarting>(),
        "Restart a server";
    post "/api/v1/servers/{server}/enable" actions::enable => json::<ServerSwitched>(),
        "Enable a server in its configuration file";
    post "/api/v1/servers/{server}/disable" actions::disable => json::<ServerSwitched>(),
        "Disable a server in its configuration file";
    post "/api/v1/servers" actions::add takes NewEntry => json::<ServerAdded>(),
        "Add a server to the user's configuration file";
    get "/api/v1/servers/{server}/entry" api::entry => json::<EntryShown>(),
        "Get the configuration entry of a server, without values that may be secrets";
    post "/api/v1/servers/{server}/edit" actions::edit takes ChangedEntry
        => json::<ServerChanged>(),
        "Change the configuration entry of a server; `[kept]` keeps a value";
    post "/api/v1/servers/{server}/remove" actions::remove => json::<ServerRemoved>(),
        "Remove a server from its configuration file";
    post "/api/v1/servers/{server}/approve" actions::approve takes ApprovedEntry
        => json::<ServerApproved>(),
        "Approve a project's or dangerous configuration entry exactly as shown";
    post "/api/v1/servers/{server}/login" actions::log_in => json::<LoginBegun>(),
        "Start a login and return the authorization URL";
    post "/api/v1/servers/{server}/logout" actions::log_out => json::<LoggedOut>(),
        "Delete the login of a server and revoke its tokens";

    // Servers to add: typed, pasted, from other products, from registries.
    post "/api/v1/configurations/read" actions::preview takes TypedEntry => json::<Proposal>(),
        "Preview the servers in a text or form, with security findings";
    post "/api/v1/configurations/installed" actions::discover => json::<Proposal>(),
        "Preview the servers of other products on this machine";
    post "/api/v1/configurations/take" actions::import takes Taken => json::<ServerAdded>(),
        "Import a server from the file of another product, exactly as shown";
    post "/api/v1/registry/search" actions::search_registry takes RegistryWords
        => json::<RegistryFound>(),
        "Search the registries in the settings, or the official one";
    post "/api/v1/registry/show" actions::show_registry takes WhichInRegistry
        => json::<RegistryShown>(),
        "Get a registry server with its installation options";
    post "/api/v1/registry/look" actions::preview_registry takes Chosen => json::<FilledIn>(),
        "Preview the exact command or URL of a registry server";
    post "/api/v1/registry/add" actions::add_from_registry takes AddedFromRegistry
        => json::<ServerAdded>(),
        "Add a registry server, exactly as shown";

    // Tools, resources and prompts.
    get "/api/v1/tools" api::tools query ToolQuery => json::<Vec<ToolRow>>(),
        "Search tools, or list all";
    get "/api/v1/tools/{server}/{tool}" api::tool => json::<ToolShown>(),
        "Get a tool with its definition";
    post "/api/v1/tools/{server}/{tool}/call" actions::call_tool takes WithArguments
        => json::<CompletedCall>(),
        "Call a tool as the signed-in user";
    post "/api/v1/tools/{server}/{tool}/app" actions::open_app => json::<AppOpened>(),
        "Read the page of a tool's app and return the URL of its frame";
    post "/api/v1/tools/{server}/{tool}/app/call" actions::call_for_app takes CallForApp
        => ResponseKind::Json(sent_result),
        "Call a tool of the same server for an app, under the policy for clients";
    post "/api/v1/tools/{server}/{tool}/app/read" actions::read_for_app takes ReadForApp
        => ResponseKind::Json(sent_result),
        "Read a resource of the same server for an app, under the policy for clients";
    get "/api/v1/catalog/tools" api::catalog_tools query CatalogQuery => json::<Vec<CatalogTool>>(),
        "Search tools, or list all, with their exact definitions";
    get "/api/v1/catalog/tools/{server}/{tool}" api::catalog_tool => json::<CatalogTool>(),
        "Get a tool with its exact definition, even if it is in quarantine";
    get "/api/v1/catalog/resources" api::catalog_resources query ServerQuery
        => json::<Vec<CatalogItem>>(),
        "List resources and templates with their exact definitions";
    get "/api/v1/catalog/prompts" api::catalog_prompts query ServerQuery
        => json::<Vec<CatalogItem>>(),
        "List prompts with their exact definitions";
    get "/api/v1/resources" api::resources => json::<ResourcesShown>(),
        "List the resources, templates and prompts of all servers";
    post "/api/v1/resources/read" actions::read_resource takes WhichResource
        => json::<CompletedCall>(),
        "Read a resource as the signed-in user";
    post "/api/v1/complete" actions::complete takes ToComplete => json::<Completion>(),
        "Complete an argument value";
    get "/api/v1/prompts/{server}/{prompt}" api::prompt => json::<OfferedPrompt>(),
        "Get a prompt with its arguments";
    post "/api/v1/prompts/{server}/{prompt}/get" actions::get_prompt takes WithArguments
        => json::<CompletedCall>(),
        "Fetch a prompt as the signed-in user";

    // Reviews, rules and pins.
    get "/api/v1/reviews" api::reviews => json::<Vec<ReviewShown>>(),
        "List the review queue, oldest first";
    post "/api/v1/reviews/{id}/answer" actions::answer_review takes AnswerGiven
        => json::<ReviewAnswered>(),
        "Answer an entry of the review queue; the first answer counts";
    get "/api/v1/policy" api::policy => json::<PolicyShown>(),
        "Get the policy rules in effect, by level, with file and line";
    post "/api/v1/policy/explain" actions::explain takes Tried => json::<ExplainedShown>(),
        "Explain the verdict on a call without running it";
    post "/api/v1/policy/what-if" actions::what_if takes ChangedRules => json::<WhatIfShown>(),
        "Replay recorded calls with changed rules and list different verdicts";
    get "/api/v1/pins" api::pins => json::<Vec<HeldServerShown>>(),
        "List quarantined definitions with their diffs";
    post "/api/v1/pins/approve" actions::approve_pins takes ApprovedPins => json::<PinsApproved>(),
        "Approve quarantined definitions, exactly as shown";
    post "/api/v1/pins/revoke" actions::revoke_pin takes RevokedPin => json::<PinRevoked>(),
        "Revoke the approval of a tool, which quarantines it";

    // Calls and events.
    get "/api/v1/openapi.json" openapi::document => ResponseKind::Json(this_document),
        "Get this OpenAPI document";
    get "/api/v1/overview" api::overview => json::<OverviewShown>(),
        "Get servers by state, pending reviews and the traffic of the last hour";
    get "/api/v1/calls" api::calls query CallQuery => json::<CallsShown>(),
        "List recorded calls, newest first";
    get "/api/v1/calls/export" api::export query CallQuery
        => ResponseKind::Lines(views::export_schema),
        "Export recorded calls with arguments and results as JSON Lines";
    post "/api/v1/calls/{id}/answer" actions::answer_call takes QuestionAnswered
        => json::<AnswerTaken>(),
        "Answer a question of a call in flight; the first answer counts";
    post "/api/v1/calls/{id}/give-up" actions::give_up_call => json::<CallGivenUp>(),
        "Cancel a call in flight by the id in its first event";
    post "/api/v1/calls/{id}/again" actions::call_again => json::<CompletedCall>(),
        "Repeat a recorded call as the signed-in user";
    get "/api/v1/calls/{id}/result" api::call_result => ResponseKind::Json(sent_result),
        "Download the result of a call as the server sent it";
    get "/api/v1/calls/{id}/parts/{number}" api::call_part
        => ResponseKind::File("application/octet-stream"),
        "Download one content block of a result: text, image, audio or resource";
    get "/api/v1/calls/{id}" api::call => json::<CallShown>(),
        "Get a recorded call with all details";
    get (Token) "/api/v1/events" live::events => ResponseKind::Events(live::event_schema),
        "Stream events (SSE); resumes after `Last-Event-ID`";
    post "/api/v1/sign-out" auth::sign_out => json::<SignedOut>(),
        "Sign out this browser";

    // Conversations.
    get "/api/v1/sessions" api::sessions => json::<Vec<SessionRow>>(),
        "List conversations, newest first";
    get "/api/v1/sessions/{session}" api::session => json::<SessionShown>(),
        "Get a conversation with its turns";
    post "/api/v1/sessions" actions::begin_session takes NewSession => json::<InSession>(),
        "Start a conversation with a model";
    post "/api/v1/sessions/{session}/say" actions::say takes Said => json::<InSession>(),
        "Send a message to a conversation, and resume it if it is closed";
    post "/api/v1/sessions/{session}/direct" actions::control_session takes Directed
        => json::<InSession>(),
        "Cancel or retry a turn, or decide whether to continue past a limit";
    get (Token) "/api/v1/sessions/{session}/events" actions::stream_session
        => ResponseKind::Events(live::session_event_schema),
        "Stream the events of a conversation (SSE)";
};

/// The call of a program, whose body may be longer than others.
const CALL: ConsoleRoute = ConsoleRoute {
    path: "/api/v1/calls",
    about: "Make a call for a program and stream its updates as JSON Lines",
    gives: ResponseKind::Lines(schema_for::<CallUpdate>),
    serve: || post(actions::make_call).layer(DefaultBodyLimit::max(MAX_CALL_BYTES)),
    ..ConsoleRoute::post()
}
.takes::<WantedCall>();
