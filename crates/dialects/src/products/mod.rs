//! The grammars of the products, and the locations of their files.

mod claude_code;
mod cline;
mod codex;
mod gemini;
mod goose;
mod opencode;
mod usual;
mod vscode;

pub(crate) use claude_code::CLAUDE_CODE;
pub(crate) use cline::CLINE;
pub(crate) use codex::CODEX;
pub(crate) use gemini::GEMINI;
pub(crate) use goose::GOOSE;
pub(crate) use opencode::OPENCODE;
pub(crate) use usual::{CLAUDE_DESKTOP, CURSOR, MCPILOT, ROO_CODE, WINDSURF, ZED};
pub(crate) use vscode::VSCODE;
