//! The bytes of every message of the schema are unchanged; `UPDATE_GOLDEN=1` rewrites the files.
//!
//! Each file contains the bytes and the text of a message, for every choice of its alternatives. An
//! encoder in this file makes the bytes from the descriptors, and the generated types must read
//! them and write them back.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic, its functions too"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet, MessageOptions,
};
use switchboard_grpc::agent::v1 as agent;
use switchboard_grpc::{DESCRIPTORS, v1};

/// All definitions of the schema, by their full name.
#[derive(Default)]
struct Schema {
    messages: BTreeMap<String, DescriptorProto>,
    enums: BTreeMap<String, EnumDescriptorProto>,
}

impl Schema {
    fn read() -> Self {
        let files = FileDescriptorSet::decode(DESCRIPTORS).unwrap();
        let mut schema = Self::default();
        for file in files.file {
            let package = file.package.unwrap_or_default();
            for message in file.message_type {
                schema.add(&package, message);
            }
            for one in file.enum_type {
                schema.enums.insert(format!(".{package}.{}", one.name()), one);
            }
        }
        schema
    }

    fn add(&mut self, around: &str, message: DescriptorProto) {
        let name = format!("{around}.{}", message.name());
        for nested in message.nested_type.clone() {
            self.add(&name, nested);
        }
        self.messages.insert(format!(".{name}"), message);
    }

    /// Returns our own messages, without the entry messages of maps.
    fn own(&self) -> BTreeSet<String> {
        let own = self.messages.iter().filter(|(name, message)| {
            let is_member = message.options.as_ref().is_some_and(MessageOptions::map_entry);
            name.starts_with(".switchboard.") && !is_member
        });
        own.map(|(name, _)| name.trim_start_matches('.').to_owned()).collect()
    }

    /// Returns the bytes of a message with every field set and, of its alternatives, the one with
    /// that number.
    fn sample(&self, name: &str, variant: usize) -> Vec<u8> {
        // These messages contain themselves.
        match name {
            ".google.protobuf.Struct" => return b"\n\x08\n\x01k\x12\x03\x1a\x01v".to_vec(),
            ".google.protobuf.Value" => return b"\x1a\x01v".to_vec(),
            _ => {}
        }
        let message = &self.messages[name];
        let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
        fields.sort_by_key(|field| field.number());
        let mut seen = BTreeMap::new();
        let mut bytes = Vec::new();
        for field in &message.field {
            // An optional field is an alternative of its own, which is always set.
            if let Some(choice) = field.oneof_index.filter(|_| !field.proto3_optional()) {
                seen.entry(choice).or_insert_with(Vec::new).push(field.number());
            }
        }
        let chosen: BTreeSet<i32> =
            seen.values().map(|numbers| numbers[variant.min(numbers.len() - 1)]).collect();
        for field in fields {
            let is_choice = field.oneof_index.is_some() && !field.proto3_optional();
            if !is_choice || chosen.contains(&field.number()) {
                self.write(field, &mut bytes);
            }
        }
        bytes
    }

    /// Returns the number of ways to choose alternatives.
    fn variants(&self, name: &str) -> usize {
        let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
        for field in &self.messages[name].field {
            if let Some(choice) = field.oneof_index.filter(|_| !field.proto3_optional()) {
                *counts.entry(choice).or_default() += 1;
            }
        }
        counts.values().copied().max().unwrap_or(1)
    }

    fn write(&self, field: &FieldDescriptorProto, bytes: &mut Vec<u8>) {
        let number = u64::try_from(field.number()).unwrap();
        let tag = |wire: u64, bytes: &mut Vec<u8>| varint(number << 3 | wire, bytes);
        let block = |content: &[u8], bytes: &mut Vec<u8>| {
            tag(2, bytes);
            varint(content.len() as u64, bytes);
            bytes.extend_from_slice(content);
        };
        match field.r#type() {
            Type::String => block(field.name().as_bytes(), bytes),
            Type::Bytes => block(&[0, 1, 255], bytes),
            Type::Message => block(&self.sample(field.type_name(), 0), bytes),
            Type::Enum => {
                // A list of numbers is packed into one block.
                let last = self.enums[field.type_name()].value.last().unwrap().number();
                let mut value = Vec::new();
                varint(u64::try_from(last).unwrap(), &mut value);
                if field.label() == Label::Repeated {
                    block(&value, bytes);
                } else {
                    tag(0, bytes);
                    bytes.extend(value);
                }
            }
            Type::Bool => {
                tag(0, bytes);
                varint(1, bytes);
            }
            Type::Int32 | Type::Int64 | Type::Uint64 => {
                tag(0, bytes);
                varint(150, bytes);
            }
            Type::Double => {
                tag(1, bytes);
                bytes.extend(1.5_f64.to_le_bytes());
            }
            other => panic!("no sample for {other:?} of `{}`", field.name()),
        }
    }
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
}

/// Parser of a message with its generated type; returns it as text, and its bytes written anew.
type Reread = fn(&[u8]) -> (String, Vec<u8>);

fn reread<T: Message + Default + std::fmt::Debug>(bytes: &[u8]) -> (String, Vec<u8>) {
    let message = T::decode(bytes).unwrap();
    (format!("{message:#?}"), message.encode_to_vec())
}

macro_rules! types {
    ($package:literal: $($name:literal => $type:ty,)*) => {
        [$((concat!($package, ".", $name), reread::<$type> as Reread)),*]
    };
}

#[expect(clippy::too_many_lines, reason = "it is a list")]
fn types() -> Vec<(&'static str, Reread)> {
    let first = types!("switchboard.v1":
        "ClientSideToolV2Call" => v1::ClientSideToolV2Call,
        "ClientSideToolV2Result" => v1::ClientSideToolV2Result,
        "ToolResultError" => v1::ToolResultError,
        "MCPParams" => v1::McpParams,
        "MCPParams.Tool" => v1::mcp_params::Tool,
        "MCPResult" => v1::McpResult,
        "CallMcpToolParams" => v1::CallMcpToolParams,
        "CallMcpToolResult" => v1::CallMcpToolResult,
        "ListMcpResourcesParams" => v1::ListMcpResourcesParams,
        "ListMcpResourcesResult" => v1::ListMcpResourcesResult,
        "ListMcpResourcesResult.MCPResource" => v1::list_mcp_resources_result::McpResource,
        "ReadMcpResourceParams" => v1::ReadMcpResourceParams,
        "ReadMcpResourceResult" => v1::ReadMcpResourceResult,
        "AllowedMCPServer" => v1::AllowedMcpServer,
        "AllowedMCPConfiguration" => v1::AllowedMcpConfiguration,
        "MCPControls" => v1::McpControls,
        "MCPInstructions" => v1::McpInstructions,
        "MCPKnownServerInfo" => v1::McpKnownServerInfo,
        "MCPServerRegistration" => v1::McpServerRegistration,
        "GetKnownServersRequest" => v1::GetKnownServersRequest,
        "GetKnownServersResponse" => v1::GetKnownServersResponse,
        "Offerings" => v1::Offerings,
        "Offerings.Tool" => v1::offerings::Tool,
        "Offerings.Prompt" => v1::offerings::Prompt,
        "Offerings.Resource" => v1::offerings::Resource,
        "MCPToolReview" => v1::McpToolReview,
        "AnswerReviewRequest" => v1::AnswerReviewRequest,
        "AnswerReviewResponse" => v1::AnswerReviewResponse,
        "ElicitationRequest" => v1::ElicitationRequest,
        "AnswerElicitationRequest" => v1::AnswerElicitationRequest,
        "AnswerElicitationResponse" => v1::AnswerElicitationResponse,
        "CallToolRequest" => v1::CallToolRequest,
        "CallToolResponse" => v1::CallToolResponse,
        "GetPromptRequest" => v1::GetPromptRequest,
        "GetPromptResponse" => v1::GetPromptResponse,
        "GetPromptResponse.Message" => v1::get_prompt_response::Message,
        "ListServersRequest" => v1::ListServersRequest,
        "ListServersResponse" => v1::ListServersResponse,
        "ServerState" => v1::ServerState,
        "ListOfferingsRequest" => v1::ListOfferingsRequest,
        "ListOfferingsResponse" => v1::ListOfferingsResponse,
        "ListToolsRawRequest" => v1::ListToolsRawRequest,
        "ListToolsRawResponse" => v1::ListToolsRawResponse,
        "GetToolsRequest" => v1::GetToolsRequest,
        "GetDescriptorsRequest" => v1::GetDescriptorsRequest,
        "GetDescriptorsResponse" => v1::GetDescriptorsResponse,
        "GetInstructionsRequest" => v1::GetInstructionsRequest,
        "GetInstructionsResponse" => v1::GetInstructionsResponse,
        "GetControlsRequest" => v1::GetControlsRequest,
        "GetControlsResponse" => v1::GetControlsResponse,
        "CreateClientRequest" => v1::CreateClientRequest,
        "CreateClientResponse" => v1::CreateClientResponse,
        "DeleteClientRequest" => v1::DeleteClientRequest,
        "DeleteClientResponse" => v1::DeleteClientResponse,
        "ReloadClientRequest" => v1::ReloadClientRequest,
        "ReloadClientResponse" => v1::ReloadClientResponse,
        "LogoutServerRequest" => v1::LogoutServerRequest,
        "EndedLogin" => v1::EndedLogin,
        "LogoutServerResponse" => v1::LogoutServerResponse,
        "ClearAllTokensRequest" => v1::ClearAllTokensRequest,
        "ClearAllTokensResponse" => v1::ClearAllTokensResponse,
        "StreamEventsRequest" => v1::StreamEventsRequest,
        "HostEvent" => v1::HostEvent,
        "StreamOpened" => v1::StreamOpened,
        "OfferingsChanged" => v1::OfferingsChanged,
        "CallProgress" => v1::CallProgress,
        "CallStarted" => v1::CallStarted,
        "CallFinished" => v1::CallFinished,
        "Resolved" => v1::Resolved,
        "Missed" => v1::Missed,
        "ServerSaid" => v1::ServerSaid,
    );
    let second = types!("switchboard.agent.v1":
        "McpToolDefinition" => agent::McpToolDefinition,
        "McpTools" => agent::McpTools,
        "McpInstructions" => agent::McpInstructions,
        "McpToolDescriptor" => agent::McpToolDescriptor,
        "McpDescriptor" => agent::McpDescriptor,
        "FileLocation" => agent::FileLocation,
        "McpTextContent" => agent::McpTextContent,
        "McpImageContent" => agent::McpImageContent,
        "McpToolResultContentItem" => agent::McpToolResultContentItem,
        "McpSuccess" => agent::McpSuccess,
        "McpError" => agent::McpError,
        "McpRejected" => agent::McpRejected,
        "McpPermissionDenied" => agent::McpPermissionDenied,
        "McpResult" => agent::McpResult,
        "McpArgs" => agent::McpArgs,
        "ListMcpResourcesExecArgs" => agent::ListMcpResourcesExecArgs,
        "ListMcpResourcesExecResult" => agent::ListMcpResourcesExecResult,
        "ListMcpResourcesExecResult.McpResource" =>
            agent::list_mcp_resources_exec_result::McpResource,
        "ListMcpResourcesSuccess" => agent::ListMcpResourcesSuccess,
        "ListMcpResourcesError" => agent::ListMcpResourcesError,
        "ListMcpResourcesRejected" => agent::ListMcpResourcesRejected,
        "ReadMcpResourceExecArgs" => agent::ReadMcpResourceExecArgs,
        "ReadMcpResourceExecResult" => agent::ReadMcpResourceExecResult,
        "ReadMcpResourceSuccess" => agent::ReadMcpResourceSuccess,
        "ReadMcpResourceError" => agent::ReadMcpResourceError,
        "ReadMcpResourceRejected" => agent::ReadMcpResourceRejected,
        "ReadMcpResourceNotFound" => agent::ReadMcpResourceNotFound,
    );
    first.into_iter().chain(second).collect()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.hex"))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        for byte in line {
            write!(text, "{byte:02x}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// Returns the fields of a message, sorted, because their order has no meaning.
fn fields(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let whole = bytes;
        let tag = prost::encoding::decode_varint(&mut bytes).unwrap();
        let content = match tag & 7 {
            1 => 8,
            kind => {
                let number = prost::encoding::decode_varint(&mut bytes).unwrap();
                if kind == 2 { usize::try_from(number).unwrap() } else { 0 }
            }
        };
        bytes = &bytes[content..];
        all.push(&whole[..whole.len() - bytes.len()]);
    }
    all.sort_unstable();
    all
}

#[test]
fn every_message_of_the_schema_has_a_type_and_a_golden_file() {
    let known: BTreeSet<String> = types().iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, Schema::read().own());
    let there = std::fs::read_dir(golden("x").parent().unwrap()).unwrap();
    let there: BTreeSet<String> = there
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(there, known);
}

#[test]
fn the_bytes_of_every_message_are_what_they_were() {
    let schema = Schema::read();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for (name, reread) in types() {
        let full = format!(".{name}");
        let mut text = String::new();
        for variant in 0..schema.variants(&full) {
            let bytes = schema.sample(&full, variant);
            let (shown, written) = reread(&bytes);
            let message = "what was read is written otherwise";
            assert_eq!(fields(&written), fields(&bytes), "{name}: {message}");
            write!(text, "{}\n{shown}\n\n", hex(&bytes)).unwrap();
        }
        let path = golden(name);
        if update {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{name}");
    }
}

#[test]
fn a_kind_of_tool_that_is_not_known_survives() {
    let bytes = [0x08, 0x63];
    let call = v1::ClientSideToolV2Call::decode(&bytes[..]).unwrap();
    assert_eq!((call.tool, call.encode_to_vec()), (99, bytes.to_vec()));
}

/// Kinds of an editor's calls, whose numbers are defined elsewhere.
const KINDS: [(i32, &str); 45] = [
    (0, "UNSPECIFIED"),
    (1, "READ_SEMSEARCH_FILES"),
    (3, "RIPGREP_SEARCH"),
    (5, "READ_FILE"),
    (6, "LIST_DIR"),
    (7, "EDIT_FILE"),
    (8, "FILE_SEARCH"),
    (9, "SEMANTIC_SEARCH_FULL"),
    (11, "DELETE_FILE"),
    (12, "REAPPLY"),
    (15, "RUN_TERMINAL_COMMAND_V2"),
    (16, "FETCH_RULES"),
    (18, "WEB_SEARCH"),
    (19, "MCP"),
    (23, "SEARCH_SYMBOLS"),
    (24, "BACKGROUND_COMPOSER_FOLLOWUP"),
    (25, "KNOWLEDGE_BASE"),
    (26, "FETCH_PULL_REQUEST"),
    (27, "DEEP_SEARCH"),
    (28, "CREATE_DIAGRAM"),
    (29, "FIX_LINTS"),
    (30, "READ_LINTS"),
    (31, "GO_TO_DEFINITION"),
    (32, "TASK"),
    (33, "AWAIT_TASK"),
    (34, "TODO_READ"),
    (35, "TODO_WRITE"),
    (38, "EDIT_FILE_V2"),
    (39, "LIST_DIR_V2"),
    (40, "READ_FILE_V2"),
    (41, "RIPGREP_RAW_SEARCH"),
    (42, "GLOB_FILE_SEARCH"),
    (43, "CREATE_PLAN"),
    (44, "LIST_MCP_RESOURCES"),
    (45, "READ_MCP_RESOURCE"),
    (46, "READ_PROJECT"),
    (47, "UPDATE_PROJECT"),
    (48, "TASK_V2"),
    (49, "CALL_MCP_TOOL"),
    (50, "APPLY_AGENT_DIFF"),
    (51, "ASK_QUESTION"),
    (52, "SWITCH_MODE"),
    (53, "GENERATE_IMAGE"),
    (54, "COMPUTER_USE"),
    (55, "WRITE_SHELL_STDIN"),
];

#[test]
fn every_kind_of_tool_has_its_number() {
    for (number, name) in KINDS {
        let kind = v1::ClientSideToolV2::try_from(number).unwrap();
        assert_eq!(kind.as_str_name(), format!("CLIENT_SIDE_TOOL_V2_{name}"));
    }
}
