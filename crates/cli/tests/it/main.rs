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
mod bundles;
mod chat;
mod chat_keys;
mod chat_review;
mod config_attacks;
mod console_api;
mod console_apps;
mod console_attacks;
mod console_bridge;
mod console_browser;
mod console_browser_attacks;
mod console_calls;
mod console_described;
mod console_details;
mod console_finding;
mod console_http;
mod console_person;
mod console_results;
mod console_rules;
mod console_running;
mod console_running_lists;
mod console_servers;
mod console_talk;
mod console_timeline;
mod crash;
mod danger;
mod demo;
mod depth;
mod dialects;
mod doctor;
mod downloads;
mod drifting;
mod edit;
#[cfg(unix)]
mod editor;
#[cfg(unix)]
mod editor_client;
#[cfg(unix)]
mod editor_people;
#[cfg(target_os = "linux")]
mod editor_servers;
mod everything;
mod exit_codes;
mod fastmcp;
mod fetch;
mod filesystem;
mod first_use;
mod fresh_home;
mod gateway;
mod generate;
mod generated;
mod git;
mod given;
#[cfg(target_os = "linux")]
mod guide_examples;
mod hook_scripts;
mod hooks;
mod hooks_approval;
mod hooks_attacks;
mod hooks_live;
#[cfg(target_os = "linux")]
mod host_faults;
mod hostile;
mod http_client;
mod interrupt;
mod lock;
#[cfg(unix)]
mod lock_packages;
mod login;
mod login_attacks;
mod login_person;
mod login_places;
mod login_refresh;
mod manual;
mod memory;
mod models_command;
mod notifications;
mod old_home;
mod output;
mod pins;
mod pins_people;
mod policy_command;
mod policy_layers;
mod policy_paths;
mod policy_patterns;
mod policy_reload;
mod policy_servers;
mod policy_taint;
mod policy_team;
#[cfg(target_os = "linux")]
mod record_full;
mod record_proof;
#[cfg(target_os = "linux")]
mod record_trouble;
mod registry;
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
mod running_calls;
mod running_older;
#[cfg(target_os = "linux")]
mod running_people;
mod sampling;
mod sandbox;
mod scan_definitions;
mod scan_names;
mod scan_results;
mod scan_screen;
mod scripted;
mod secrets;
mod secure;
mod serve_addresses;
mod serve_ages;
mod serve_asks;
mod serve_asks_console;
mod serve_attacks;
mod serve_bytes;
mod serve_callers;
mod serve_calls;
mod serve_client;
mod serve_clients;
mod serve_connections;
mod serve_drain;
mod serve_http;
mod serve_limits;
mod serve_lists;
mod serve_matrix;
mod serve_meta;
mod serve_names;
mod serve_nowhere;
mod serve_oauth;
mod serve_odd_server;
mod serve_pages;
mod serve_reviews;
mod serve_settings;
mod serve_soak;
#[cfg(unix)]
mod serve_starting;
mod serve_stdio;
mod serve_tasks;
mod serve_tokens;
mod serve_unreadable;
mod serve_variations;
mod serve_views;
mod server_talk;
mod sessions;
mod speakers;
mod sqlite;
mod surroundings;
mod switchboard;
mod talking;
mod tasks;
#[cfg(target_os = "linux")]
mod terminal;
mod testenv;
mod time;
mod told_server;
mod transcript;
mod two_servers;
mod waiting;
mod watch;
