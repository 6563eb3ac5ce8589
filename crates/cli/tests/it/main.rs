//! Runs the `switchboard` binary against real servers and fixtures, as a person or a script would.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

mod approval;
mod arguments;
mod asks;
mod broken_siblings;
mod chat;
mod chat_keys;
mod chat_review;
mod crash;
mod demo;
mod doctor;
mod edit;
mod everything;
mod exit_codes;
mod fastmcp;
mod fetch;
mod filesystem;
mod fresh_home;
mod gateway;
mod git;
mod hostile;
mod http_client;
mod interrupt;
mod login;
mod login_attacks;
mod login_person;
mod login_places;
mod login_refresh;
mod manual;
mod memory;
mod models_command;
mod output;
mod remote_server;
mod resume;
mod review;
mod run_calls;
mod run_consent;
mod run_faults;
mod run_interrupt;
mod run_onward;
mod run_results;
mod run_task;
mod run_thoughts;
mod running;
mod sampling;
mod scripted;
mod serve_attacks;
mod serve_bytes;
mod serve_callers;
mod serve_calls;
mod serve_client;
mod serve_clients;
mod serve_drain;
mod serve_http;
mod serve_limits;
mod serve_lists;
mod serve_names;
mod serve_oauth;
mod serve_odd_server;
mod serve_settings;
mod serve_soak;
mod serve_stdio;
mod serve_tokens;
mod server_talk;
mod sessions;
mod sqlite;
mod switchboard;
mod talking;
mod tasks;
#[cfg(target_os = "linux")]
mod terminal;
mod testenv;
mod time;
mod two_servers;
mod waiting;
mod watch;
