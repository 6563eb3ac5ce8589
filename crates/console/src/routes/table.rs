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

/// Maximum length of a program's call.
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
        "All servers with their states";
    get "/api/v1/servers/{server}" api::server => json::<ServerShown>(),
        "One server: what it offers, its log and its messages";
    post "/api/v1/servers/{server}/restart" actions::restart => json::<ServerRestarting>(),
        "Starts a server afresh";
    post "/api/v1/servers/{server}/enable" actions::enable => json::<ServerSwitched>(),
        "Switches a server on, in its configuration file";
    post "/api/v1/servers/{server}/disable" actions::disable => json::<ServerSwitched>(),
        "Switches a server off, in its configuration file";
    post "/api/v1/servers" actions::add takes NewEntry => json::<ServerAdded>(),
        "Adds a server to the user's configuration file";
    get "/api/v1/servers/{server}/entry" api::entry => json::<EntryShown>(),
        "The entry of a server as its file has it, with values that may be secret left out";
    post "/api/v1/servers/{server}/edit" actions::edit takes ChangedEntry
        => json::<ServerChanged>(),
        "Changes the entry of a server where it stands; `[kept]` keeps a value";
    post "/api/v1/servers/{server}/remove" actions::remove => json::<ServerRemoved>(),
        "Removes a server from its configuration file";
    post "/api/v1/servers/{server}/approve" actions::approve takes ApprovedEntry
        => json::<ServerApproved>(),
        "Agrees to run the entry of a project, or one that is dangerous, as it is";
    post "/api/v1/servers/{server}/login" actions::log_in => json::<LoginBegun>(),
        "Begins a login and gives the address that a person has to visit for it";
    post "/api/v1/servers/{server}/logout" actions::log_out => json::<LoggedOut>(),
        "Ends the login of a server, here and at who gave it";

    // Servers to add: typed, pasted, from other products, from registries.
    post "/api/v1/configurations/read" actions::preview takes TypedEntry => json::<Proposal>(),
        "Says what would be added by a text or a form, and what is dangerous about it";
    post "/api/v1/configurations/installed" actions::discover => json::<Proposal>(),
        "Says which servers other products have on this machine, and what would be taken";
    post "/api/v1/configurations/take" actions::import takes Taken => json::<ServerAdded>(),
        "Takes a server over from the file of another product, exactly as it was shown";
    post "/api/v1/registry/search" actions::search_registry takes RegistryWords
        => json::<RegistryFound>(),
        "Searches the registries of the settings, or the official one";
    post "/api/v1/registry/show" actions::show_registry takes WhichInRegistry
        => json::<RegistryShown>(),
        "The ways in which a server of a registry can be added, with what each would run";
    post "/api/v1/registry/look" actions::preview_registry takes Chosen => json::<FilledIn>(),
        "Says exactly what would be run or visited with these answers";
    post "/api/v1/registry/add" actions::add_from_registry takes AddedFromRegistry
        => json::<ServerAdded>(),
        "Adds a server of a registry, exactly what was shown";

    // Tools, resources and prompts.
    get "/api/v1/tools" api::tools query ToolQuery => json::<Vec<ToolRow>>(),
        "Tools, all or those that fit the words best";
    get "/api/v1/tools/{server}/{tool}" api::tool => json::<ToolShown>(),
        "One tool with its definition";
    post "/api/v1/tools/{server}/{tool}/call" actions::call_tool takes WithArguments
        => json::<CompletedCall>(),
        "Calls a tool, as the person who is signed in";
    post "/api/v1/tools/{server}/{tool}/app" actions::open_app => json::<AppOpened>(),
        "Reads the page of a tool's app and gives the address of a frame for it";
    post "/api/v1/tools/{server}/{tool}/app/call" actions::call_for_app takes CallForApp
        => ResponseKind::Json(sent_result),
        "Calls a tool of the same server for an app, by the rules for clients";
    post "/api/v1/tools/{server}/{tool}/app/read" actions::read_for_app takes ReadForApp
        => ResponseKind::Json(sent_result),
        "Reads a resource of the same server for an app, by the rules for clients";
    get "/api/v1/catalog/tools" api::catalog_tools query CatalogQuery => json::<Vec<CatalogTool>>(),
        "Tools with their definitions to the letter, all or those that fit the words";
    get "/api/v1/catalog/tools/{server}/{tool}" api::catalog_tool => json::<CatalogTool>(),
        "One tool with its definition to the letter, also one that is held";
    get "/api/v1/catalog/resources" api::catalog_resources query ServerQuery
        => json::<Vec<CatalogItem>>(),
        "Resources and templates with their definitions to the letter";
    get "/api/v1/catalog/prompts" api::catalog_prompts query ServerQuery
        => json::<Vec<CatalogItem>>(),
        "Prompts with their definitions to the letter";
    get "/api/v1/resources" api::resources => json::<ResourcesShown>(),
        "Resources, templates and prompts of all servers";
    post "/api/v1/resources/read" actions::read_resource takes WhichResource
        => json::<CompletedCall>(),
        "Reads a resource, as the person who is signed in";
    post "/api/v1/complete" actions::complete takes ToComplete => json::<Completion>(),
        "Says how the value of an argument may go on, as its server knows";
    get "/api/v1/prompts/{server}/{prompt}" api::prompt => json::<OfferedPrompt>(),
        "One prompt with its arguments";
    post "/api/v1/prompts/{server}/{prompt}/get" actions::get_prompt takes WithArguments
        => json::<CompletedCall>(),
        "Fetches a prompt, as the person who is signed in";

    // Reviews, rules and pins.
    get "/api/v1/reviews" api::reviews => json::<Vec<ReviewShown>>(),
        "What waits for a person, the oldest first";
    post "/api/v1/reviews/{id}/answer" actions::answer_review takes AnswerGiven
        => json::<ReviewAnswered>(),
        "Answers something that waits; the first answer counts";
    get "/api/v1/policy" api::policy => json::<PolicyShown>(),
        "The rules in effect, level by level, with where they are written";
    post "/api/v1/policy/explain" actions::explain takes Tried => json::<ExplainedShown>(),
        "Says what would be decided about a call, and by which rule; nothing is called";
    post "/api/v1/policy/what-if" actions::what_if takes ChangedRules => json::<WhatIfShown>(),
        "Says what changed rules would have decided otherwise about recorded calls";
    get "/api/v1/pins" api::pins => json::<Vec<HeldServerShown>>(),
        "Definitions that are held until a person approves them, with what is different";
    post "/api/v1/pins/approve" actions::approve_pins takes ApprovedPins => json::<PinsApproved>(),
        "Approves held definitions, exactly those that were shown";
    post "/api/v1/pins/revoke" actions::revoke_pin takes RevokedPin => json::<PinRevoked>(),
        "Takes the approval of a tool back: it is held until it is approved again";

    // Calls and events.
    get "/api/v1/openapi.json" openapi::document => ResponseKind::Json(this_document),
        "This document";
    get "/api/v1/overview" api::overview => json::<OverviewShown>(),
        "Servers by state, what waits, and how busy the last hour was";
    get "/api/v1/calls" api::calls query CallQuery => json::<CallsShown>(),
        "Recorded calls, the newest first";
    get "/api/v1/calls/export" api::export query CallQuery
        => ResponseKind::Lines(views::export_schema),
        "Recorded calls with their arguments and results, a JSON text in each line";
    post "/api/v1/calls/{id}/answer" actions::answer_call takes QuestionAnswered
        => json::<AnswerTaken>(),
        "Answers what a call asks whose program was told of it; the first answer counts";
    post "/api/v1/calls/{id}/give-up" actions::give_up_call => json::<CallGivenUp>(),
        "Gives up a call whose program was told its name when it began";
    post "/api/v1/calls/{id}/again" actions::call_again => json::<CompletedCall>(),
        "Calls once more what was called, as the person who is signed in";
    get "/api/v1/calls/{id}/result" api::call_result => ResponseKind::Json(sent_result),
        "The result of a call as it was sent, to be kept in a file";
    get "/api/v1/calls/{id}/parts/{number}" api::call_part
        => ResponseKind::File("application/octet-stream"),
        "One part of a result as a file: a picture, a sound, or what a resource holds";
    get "/api/v1/calls/{id}" api::call => json::<CallShown>(),
        "Everything about one call";
    get (Token) "/api/v1/events" live::events => ResponseKind::Events(live::event_schema),
        "What happens, as server-sent events; goes on after `Last-Event-ID`";
    post "/api/v1/sign-out" auth::sign_out => json::<SignedOut>(),
        "Signs this browser out";

    // Conversations.
    get "/api/v1/sessions" api::sessions => json::<Vec<SessionRow>>(),
        "Conversations, the newest first";
    get "/api/v1/sessions/{session}" api::session => json::<SessionShown>(),
        "One conversation with its steps";
    post "/api/v1/sessions" actions::begin_session takes NewSession => json::<InSession>(),
        "Begins a conversation with a model";
    post "/api/v1/sessions/{session}/say" actions::say takes Said => json::<InSession>(),
        "Says something in a conversation, and takes it up if nobody holds it";
    post "/api/v1/sessions/{session}/direct" actions::control_session takes Directed
        => json::<InSession>(),
        "Gives up what runs in a conversation, or answers whether it goes on";
    get (Token) "/api/v1/sessions/{session}/events" actions::stream_session
        => ResponseKind::Events(live::session_event_schema),
        "What happens in a conversation, as server-sent events";
};

/// The call of a program, whose body may be longer than others.
const CALL: ConsoleRoute = ConsoleRoute {
    path: "/api/v1/calls",
    about: "Calls something for a program and tells what happens, a JSON text in each line",
    gives: ResponseKind::Lines(schema_for::<CallUpdate>),
    serve: || post(actions::make_call).layer(DefaultBodyLimit::max(MAX_CALL_BYTES)),
    ..ConsoleRoute::post()
}
.takes::<WantedCall>();
