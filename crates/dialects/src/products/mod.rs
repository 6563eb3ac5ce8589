//! One file per product: how it writes down its servers, and where.

mod claude_code;
mod claude_desktop;
mod cline;
mod codex;
mod cursor;
mod gemini;
mod goose;
mod mcpilot;
mod opencode;
mod roo_code;
mod vscode;
mod windsurf;
mod zed;

pub(crate) use claude_code::ClaudeCode;
pub(crate) use claude_desktop::ClaudeDesktop;
pub(crate) use cline::Cline;
pub(crate) use codex::Codex;
pub(crate) use cursor::CursorProduct;
pub(crate) use gemini::GeminiCli;
pub(crate) use goose::Goose;
pub(crate) use mcpilot::Mcpilot;
pub(crate) use opencode::Opencode;
pub(crate) use roo_code::RooCode;
pub(crate) use vscode::Vscode;
pub(crate) use windsurf::Windsurf;
pub(crate) use zed::Zed;
