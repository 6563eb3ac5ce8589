//! A conversation with a scripted vendor: scripts for every form of calling, and the requests
//! received.

use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::{ModelFixture, ModelVendor};

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::switchboard::Switchboard;

/// API key of every model, and the variable that holds it.
pub(crate) const KEY: &str = "sk-test-4b1c9e7f2a";
pub(crate) const KEY_VARIABLE: &str = "TALKING_TEST_KEY";

/// The form in which a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Native,
    Text,
    Tags,
}

/// All forms, for tests that apply to each.
pub(crate) const FORMS: [Form; 3] = [Form::Native, Form::Text, Form::Tags];

/// Every vendor with native calls, and one of them with both text forms.
pub(crate) const WAYS: [(ModelVendor, Form); 5] = [
    (ModelVendor::OpenAi, Form::Native),
    (ModelVendor::Anthropic, Form::Native),
    (ModelVendor::Gemini, Form::Native),
    (ModelVendor::Anthropic, Form::Text),
    (ModelVendor::OpenAi, Form::Tags),
];

/// A model's request, whatever the form.
#[derive(Clone, Debug)]
pub(crate) enum VendorCall {
    /// Server, tool and arguments.
    Tool(&'static str, &'static str, Value),
    /// Server and address.
    Resource(&'static str, &'static str),
    /// A tool of the conversation itself.
    Own(&'static str, Value),
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Text => "text",
            Self::Tags => "tags",
        }
    }

    /// Returns a scripted turn with a text and these calls.
    pub(crate) fn turn(self, text: &str, asked: &[VendorCall]) -> Value {
        if self == Self::Native {
            let calls: Vec<Value> = asked.iter().map(VendorCall::native).collect();
            return json!({"text": text, "calls": calls});
        }
        let mut parts = vec![text.to_owned()];
        parts.extend(asked.iter().map(|asked| asked.element(self)));
        json!({"text": parts.join("\n\n")})
    }
}

impl VendorCall {
    fn native(&self) -> Value {
        let (name, arguments) = match self {
            Self::Tool(server, tool, arguments) => (format!("{server}__{tool}"), arguments.clone()),
            Self::Resource(server, uri) => {
                ("access_mcp_resource".to_owned(), json!({"server_name": server, "uri": uri}))
            }
            Self::Own(name, arguments) => ((*name).to_owned(), arguments.clone()),
        };
        json!({"name": name, "arguments": arguments})
    }

    fn element(&self, form: Form) -> String {
        match self {
            Self::Tool(server, tool, arguments) if form == Form::Tags => {
                element(&format!("{server}__{tool}"), arguments)
            }
            Self::Tool(server, tool, arguments) => wrapped_call(server, tool, arguments),
            Self::Resource(server, uri) => {
                element("access_mcp_resource", &json!({"server_name": server, "uri": uri}))
            }
            Self::Own(name, arguments) => element(name, arguments),
        }
    }
}

/// Returns a call with `use_mcp_tool`.
pub(crate) fn wrapped_call(server: &str, tool: &str, arguments: &Value) -> String {
    format!(
        "<use_mcp_tool>\n<server_name>{server}</server_name>\n<tool_name>{tool}</tool_name>\n\
         <arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
    )
}

/// Returns an element with one child element per argument.
fn element(name: &str, arguments: &Value) -> String {
    let members = arguments.as_object().expect("arguments are an object").iter();
    let inner: Vec<String> = members
        .map(|(key, value)| match value {
            Value::String(text) => format!("<{key}>{text}</{key}>\n"),
            other => format!("<{key}>{other}</{key}>\n"),
        })
        .collect();
    format!("<{name}>\n{}</{name}>", inner.concat())
}

/// A builder of a conversation.
pub(crate) struct Setup {
    pub(crate) vendor: ModelVendor,
    form: Form,
    servers: Value,
    settings: Value,
    profile: Value,
}

impl Setup {
    pub(crate) fn new((vendor, form): (ModelVendor, Form)) -> Self {
        Self { vendor, form, servers: json!({}), settings: json!({}), profile: json!({}) }
    }

    pub(crate) fn servers(self, servers: Value) -> Self {
        Self { servers, ..self }
    }

    /// Sets the `settings` of the configuration.
    pub(crate) fn settings(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    /// Sets the `chat` settings.
    pub(crate) fn chat(self, chat: &Value) -> Self {
        self.settings(json!({ "chat": chat }))
    }

    /// Sets members that override the profile.
    pub(crate) fn profile(self, profile: Value) -> Self {
        Self { profile, ..self }
    }

    pub(crate) fn start(self, turns: &[Value]) -> Talk {
        self.start_in(Switchboard::new(), &json!({ "turns": turns }))
    }

    /// Starts the conversation in an existing home, with a whole script.
    pub(crate) fn start_in(self, switchboard: Switchboard, script: &Value) -> Talk {
        let model = ModelFixture::start_with_key(self.vendor, KEY, script);
        let mut profile = json!({
            "provider": self.vendor.name(), "model": "m-1", "baseUrl": model.base_url(),
            "apiKeyEnv": KEY_VARIABLE, "calls": self.form.word(),
        });
        let members = profile.as_object_mut().unwrap();
        members.extend(self.profile.as_object().unwrap().clone());
        let config = json!({
            "mcpServers": self.servers, "models": {"fast": profile}, "settings": self.settings,
        });
        switchboard.write_config(&config.to_string());
        Talk { switchboard, model, vendor: self.vendor }
    }
}

/// A home and the model of its conversation.
pub(crate) struct Talk {
    pub(crate) switchboard: Switchboard,
    pub(crate) model: ModelFixture,
    vendor: ModelVendor,
}

impl Talk {
    /// Returns a command of the program, with the key in its environment.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.switchboard.command(words);
        command.env(KEY_VARIABLE, KEY).env_remove("SWITCHBOARD_MODEL");
        command
    }

    pub(crate) fn start(&self, words: &[&str]) -> RunningProcess {
        RunningProcess::start(&mut self.command(words))
    }

    /// Runs the program without input and checks its exit code.
    pub(crate) fn run(&self, words: &[&str], code: i32) -> Ran {
        let mut running = self.start(words);
        running.close_input();
        running.finish_within(TEST_TIMEOUT).expect(code)
    }

    /// Runs a task with every call allowed, and returns its events.
    pub(crate) fn task(&self, words: &[&str], code: i32) -> Vec<Value> {
        events(&self.run(&[&["run", "do it", "--allow", "*", "--json"], words].concat(), code))
    }

    /// Returns the newest messages of each request for an answer: one text per result or message
    /// since the model's last answer.
    pub(crate) fn newest_messages(&self) -> Vec<Vec<String>> {
        let requests = self.bodies();
        requests.iter().map(|body| message_texts(self.vendor, body)).collect()
    }

    /// Returns the newest messages of the last request.
    pub(crate) fn told_last(&self) -> String {
        self.newest_messages().pop().expect("the model was asked").join("\n")
    }

    /// Returns the bodies of the requests for an answer.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let requests = self.model.requests().into_iter();
        let asking = requests.filter(|request| request["verb"] == "POST");
        asking.map(|mut request| request["body"].take()).collect()
    }

    /// Returns the names of the tools in a request.
    pub(crate) fn offered_names(&self, body: &Value) -> Vec<String> {
        let tools = match self.vendor {
            ModelVendor::Gemini => &body["tools"][0]["functionDeclarations"],
            ModelVendor::OpenAi | ModelVendor::Anthropic => &body["tools"],
        };
        let name = |tool: &Value| {
            let tool = if self.vendor == ModelVendor::OpenAi { &tool["function"] } else { tool };
            tool["name"].as_str().unwrap().to_owned()
        };
        tools.as_array().into_iter().flatten().map(name).collect()
    }

    /// Returns the system prompt of a request.
    pub(crate) fn system(&self, body: &Value) -> String {
        let text = match self.vendor {
            ModelVendor::OpenAi => &body["messages"][0]["content"],
            ModelVendor::Anthropic => &body["system"][0]["text"],
            ModelVendor::Gemini => &body["systemInstruction"]["parts"][0]["text"],
        };
        text.as_str().unwrap().to_owned()
    }
}

/// Parses every line of standard output as an event.
pub(crate) fn events(ran: &Ran) -> Vec<Value> {
    let line = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|cause| panic!("{cause} in `{line}`: {ran:?}"))
    };
    ran.stdout.lines().map(line).collect()
}

/// Returns the events of a kind.
pub(crate) fn events_by_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// Returns the text of the last answer.
pub(crate) fn last_words(events: &[Value]) -> String {
    let again = |event: &Value| event["event"] == "asking" || event["event"] == "again";
    let begin = events.iter().rposition(again).expect("the model was asked");
    let words = events_by_kind(&events[begin..], "text");
    words.iter().map(|event| event["text"].as_str().unwrap()).collect()
}

/// Returns the outcome of the turn, as one word.
pub(crate) fn end(events: &[Value]) -> &str {
    let last = events.last().expect("there are events");
    assert_eq!(last["event"], "turn_ended", "{last}");
    last["end"].as_str().unwrap()
}

fn message_texts(vendor: ModelVendor, body: &Value) -> Vec<String> {
    let list = if vendor == ModelVendor::Gemini { "contents" } else { "messages" };
    let messages = body[list].as_array().unwrap().iter().rev();
    let ours =
        messages.take_while(|message| message["role"] == "user" || message["role"] == "tool");
    let ours: Vec<&Value> = ours.collect();
    ours.into_iter().rev().flat_map(|message| texts(vendor, message)).collect()
}

fn texts(vendor: ModelVendor, message: &Value) -> Vec<String> {
    let list = if vendor == ModelVendor::Gemini { "parts" } else { "content" };
    match &message[list] {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        other => panic!("neither a text nor parts: {other}"),
    }
}

fn part(part: &Value) -> Option<String> {
    let response = &part["functionResponse"]["response"];
    let texts = [&part["text"], &response["output"], &response["error"]];
    if let Some(text) = texts.iter().find_map(|text| text.as_str()) {
        return Some(text.to_owned());
    }
    let inner = part["content"].as_array()?;
    let texts = inner.iter().filter_map(|block| block["text"].as_str());
    Some(texts.collect::<Vec<_>>().join("\n"))
}
