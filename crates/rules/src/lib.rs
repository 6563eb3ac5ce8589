//! Rule files: from text to validated [`Policies`].
//!
//! The crate takes the text of policy and team files. It returns patterns, checked CEL conditions,
//! examples and allowed servers, or errors with a position. It never decides about calls.

mod allowed_servers;
mod cel;
mod expression;
mod path_parts;
mod pattern;
mod policy_cases;
mod policy_file;
mod policy_lines;
mod policy_read;
mod regex_limits;
mod rule_reader;
mod team;

pub use allowed_servers::{AllowedServer, Endpoint};
pub use cel::condition_shapes::SESSION_WITH_RESULTS;
pub use expression::Expression;
pub use path_parts::path_in;
pub use pattern::Pattern;
pub use policy_cases::{PolicyCase, policy_cases_from_text};
pub use policy_file::{Example, Policies, PolicyFile, PolicyLevel, RuleEffect, RuleEntry};
pub use policy_lines::PolicyLine;
pub use policy_read::{policy_from_text, read_policy_file};
pub use regex_limits::compile_at_call;
pub use rule_reader::NodeReader;
pub use team::{Team, TeamPlace, read_team};
