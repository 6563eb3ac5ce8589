//! Tests of the gateway's lists: names, pages, searches, and change notifications.

use serde_json::{Value, json};

use crate::gateway::{Gateway, NEWEST_LEGACY, answer_text};
use crate::running::{TEST_TIMEOUT, poll};
use crate::serve_client::{ServingGateway, modern, tool_call, until};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

/// Tools of the built-in server.
pub(crate) const BUILT_IN: [&str; 6] = [
    "builtin__echo", "builtin__files_list", "builtin__files_read", "builtin__files_search",
    "builtin__time_convert", "builtin__time_now",
];

#[test]
fn a_new_server_in_the_configuration_is_told_to_those_who_listen() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let mut stream = legacy.listen();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = modern.send("subscriptions/listen", &wanted);
    let acknowledged = listening.next_message();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    let wanted = json!({"notifications": {"promptsListChanged": true}});
    let mut prompts = modern.send("subscriptions/listen", &wanted);
    prompts.next_message();

    switchboard.configure(&json!({"one": fixture(&["echo"]), "two": fixture(&["echo"])}));
    let has = |names: Vec<String>, name: &str| names.iter().any(|known| known == name);
    let method = "notifications/tools/list_changed";
    let change = listening.next_until(method, || has(modern.names("tools"), "two__echo"));
    let subscription = "io.modelcontextprotocol/subscriptionId";
    let id = |message: &Value| message["params"]["_meta"][subscription].clone();
    assert_eq!(id(&change), id(&acknowledged));
    stream.next_until(method, || has(legacy.names("tools"), "two__echo"));
    let method = "notifications/prompts/list_changed";
    prompts.next_until(method, || has(modern.names("prompts"), "two__greet"));
}

#[test]
fn a_tool_that_a_server_adds_is_told_and_can_be_called() {
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::new();
        let servers = json!({"echo": fixture(&["echo", "--era", era])});
        // With pins, the new tool would wait for a person.
        let config = json!({"mcpServers": servers, "settings": {"pins": "off"}});
        switchboard.write_config(&config.to_string());
        let gateway = Gateway::with_tool(&switchboard, &[], "echo__grow");
        let client = gateway.modern();
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        let mut listening = client.send("subscriptions/listen", &wanted);
        listening.next_message();
        assert_eq!(answer_text(&client.call("echo__grow", &json!({}))), "grown_1");
        let is_listed = || client.names("tools").contains(&"echo__grown_1".to_owned());
        listening.next_until("notifications/tools/list_changed", is_listed);
        let answer = client.call("echo__grown_1", &json!({"query": "x"}));
        assert!(answer_text(&answer).starts_with("grown_1"), "{era}: {answer}");
    }
}

#[test]
fn a_long_list_comes_in_pages_that_cover_it() {
    let switchboard = Switchboard::with(&json!({"many": fixture(&["echo", "--tools", "2000"])}));
    let gateway = Gateway::with_tool(&switchboard, &["--tools", "all"], "many__echo");
    let client = gateway.modern();
    let mut names = Vec::new();
    let mut sizes = Vec::new();
    let mut params = json!({});
    for _ in 0..10 {
        let page = client.ask("tools/list", &params);
        let found = crate::gateway::names(&page, "tools");
        sizes.push(found.len());
        names.extend(found);
        let Some(next) = page["result"].get("nextCursor") else { break };
        params = json!({"cursor": next});
    }
    assert_eq!(sizes, [1000, 1000, 11 + BUILT_IN.len()]);
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    assert_eq!(names.last().map(String::as_str), Some("many__tool_2000"));
    let elsewhere = client.ask("tools/list", &json!({"cursor": "elsewhere"}));
    assert_eq!(elsewhere["error"]["code"], -32602);
}

#[test]
fn a_list_goes_on_where_it_was_while_servers_come_and_go() {
    let switchboard = Switchboard::new();
    let servers = |names: &[(&str, &str)]| {
        let entry = |(name, tools): &(&str, &str)| {
            ((*name).to_owned(), fixture(&["echo", "--tools", tools]))
        };
        names.iter().map(entry).collect::<Value>()
    };
    switchboard.configure(&servers(&[("b", "3"), ("m", "1600"), ("y", "3")]));
    let options = ["--tools", "all"];
    let gateway = Gateway::with_tool(&switchboard, &options, "b__echo");
    gateway.wait_for_tool("m__echo");
    let client = gateway.modern();
    let all = |client: &crate::gateway::Modern<'_>, page: &Value| {
        let mut names = crate::gateway::names(page, "tools");
        let mut next = page["result"].get("nextCursor").cloned();
        while let Some(cursor) = next {
            let page = client.ask("tools/list", &json!({ "cursor": cursor }));
            names.extend(crate::gateway::names(&page, "tools"));
            next = page["result"].get("nextCursor").cloned();
        }
        names
    };
    let has = |name: &str| {
        let page = client.ask("tools/list", &json!({}));
        all(&client, &page).contains(&name.to_owned()).then_some(())
    };
    assert!(poll(TEST_TIMEOUT, || has("y__echo")).is_some());
    let first = client.ask("tools/list", &json!({}));
    // Servers before and after the cursor come and go.
    switchboard.configure(&servers(&[("a", "3"), ("m", "1600"), ("z", "3")]));
    for name in ["a__echo", "z__echo"] {
        assert!(poll(TEST_TIMEOUT, || has(name)).is_some(), "{name}");
    }
    assert!(poll(TEST_TIMEOUT, || has("y__echo").is_none().then_some(())).is_some());
    let names = all(&client, &first);
    let of = |server: &str| {
        let begins = format!("{server}__");
        names.iter().filter(|name| name.starts_with(&begins)).cloned().collect::<Vec<_>>()
    };
    // Every tool that was present throughout occurs once, in order.
    let whole = client.ask("tools/list", &json!({}));
    let whole = all(&client, &whole);
    let expected: Vec<&String> = whole.iter().filter(|name| name.starts_with("m__")).collect();
    assert_eq!(expected.len(), 1_611);
    assert_eq!(of("m").iter().collect::<Vec<_>>(), expected);
    let counts = ["a", "b", "y", "z"].map(|server| of(server).len());
    assert_eq!(counts, [0, 14, 0, 14]);
}

#[test]
fn what_is_listed_may_be_kept_for_a_while_by_who_asked() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    let modern = gateway.modern();
    let legacy = gateway.legacy(NEWEST_LEGACY);
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let listed = modern.ask(method, &json!({}));
        let said = ["resultType", "ttlMs", "cacheScope"].map(|key| listed["result"][key].clone());
        assert_eq!(said, [json!("complete"), json!(10_000), json!("private")], "{method}");
        if method != "server/discover" {
            let listed = legacy.ask(method, &json!({}));
            for key in ["resultType", "ttlMs", "cacheScope"] {
                assert_eq!(listed["result"].get(key), None, "{method}");
            }
        }
    }
}

#[test]
fn three_tools_find_describe_and_call_all_others() {
    let switchboard = Switchboard::with(&json!({"many": fixture(&["echo", "--tools", "600"])}));
    let three = ["find_tools", "describe_tool", "call_tool"];
    // 600 tools are too many for a full list unless the options request one.
    for options in [&["--tools", "search"][..], &[]] {
        let gateway = Gateway::with_tool(&switchboard, options, "find_tools");
        let client = gateway.legacy(NEWEST_LEGACY);
        assert_eq!(client.names("tools"), three);
        let query = json!({"query": "add two numbers", "limit": 5});
        let found =
            || answer_text(&client.call("find_tools", &query)).contains("many__add").then_some(());
        assert!(poll(TEST_TIMEOUT, found).is_some(), "{}", client.call("find_tools", &query));
        let described = client.call("describe_tool", &json!({"name": "many__add"}));
        let described: Value = serde_json::from_str(answer_text(&described)).unwrap();
        assert_eq!(described["name"], "many__add");
        assert_eq!(described["inputSchema"]["required"], json!(["a", "b"]));
        let arguments = json!({"name": "many__add", "arguments": {"a": 2, "b": 40}});
        let sum = client.call("call_tool", &arguments);
        assert_eq!(sum["result"]["structuredContent"], json!({"sum": 42}));
        let nobody = client.call("call_tool", &json!({"name": "many__nobody", "arguments": {}}));
        assert_eq!(nobody["result"]["isError"], true, "{nobody}");
        // A used tool is listed after the three, and can be called by its own name.
        assert_eq!(client.names("tools").get(3).map(String::as_str), Some("many__add"));
        let sum = client.call("many__add", &json!({"a": 1, "b": 1}));
        assert_eq!(sum["result"]["structuredContent"], json!({"sum": 2}));
    }
}

#[test]
fn the_tools_that_a_caller_uses_most_are_its_own_and_it_is_told_when_they_change() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let ada = token(&switchboard, &["ada"]);
    let eve = token(&switchboard, &["eve"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--tools", "search"]);
    let names = |token: &str| serving.tools(Some(token));
    let three = 3;
    let call = |token: &str| {
        let arguments = json!({"name": "one__echo", "arguments": {"text": "a"}});
        serving.send(&tool_call(Some(token), "call_tool", &arguments)).json()
    };
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listen = |token: &str| {
        let mut events = serving.open(&modern(Some(token), "subscriptions/listen", wanted.clone()));
        events.line_with("acknowledged").unwrap();
        events
    };
    until(|| call(&eve)["result"]["isError"] != true);
    assert_eq!(names(&eve).get(three..), Some(&["one__echo".to_owned()][..]));
    assert_eq!(names(&ada).len(), three);
    let mut stream = listen(&ada);
    call(&ada);
    assert!(stream.line_with("tools/list_changed").is_some());
    assert_eq!(names(&ada), names(&eve));
}

#[test]
fn plain_names_are_refused_where_two_servers_use_one() {
    let switchboard = Switchboard::with(&json!({
        "one": fixture(&["echo"]), "two": fixture(&["echo"]),
    }));
    let both = ["--server", "one", "--server", "two"];
    let words = [&["serve", "--listen", "127.0.0.1:0", "--names", "plain"], &both[..]].concat();
    let refused = switchboard.run(&words).expect(3);
    assert!(refused.stderr.contains("`echo` of `one` and `two`"), "{refused:?}");
    assert!(refused.stderr.contains("hint: "), "{refused:?}");
    let gateway = Gateway::start(&switchboard, &["--names", "plain", "--server", "two"]);
    let client = gateway.modern();
    assert!(client.names("tools").contains(&"echo".to_owned()));
    assert_eq!(answer_text(&client.call("echo", &json!({"text": "a"}))), "a");
    assert_eq!(client.names("prompts"), ["greet"]);
    assert_eq!(switchboard.recorded_calls(), ["tool two/echo: ok"]);
}

#[test]
fn an_address_that_two_servers_have_says_whose_it_is() {
    let switchboard = Switchboard::with(&json!({
        "one": fixture(&["echo"]), "two": fixture(&["echo"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    gateway.wait_for_tool("two__echo");
    let client = gateway.legacy(NEWEST_LEGACY);
    let listed = client.ask("resources/list", &json!({}));
    let addresses: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["uri"].as_str().unwrap())
        .filter(|uri| uri.ends_with("static-text"))
        .collect();
    assert_eq!(addresses, ["test://static-text", "switchboard:two:test://static-text"]);
    let templates = ["test://template/7", "switchboard:two:test://template/7"];
    for uri in addresses.into_iter().chain(templates) {
        let read = client.ask("resources/read", &json!({"uri": uri}));
        assert!(read["result"]["contents"][0]["text"].is_string(), "{uri}: {read}");
    }
    assert_eq!(
        switchboard.recorded_calls(),
        [
            "resource one/test://static-text: ok",
            "resource two/test://static-text: ok",
            "resource one/test://template/7: ok",
            "resource two/test://template/7: ok",
        ]
    );
}

#[test]
fn prompts_carry_their_servers_name_and_instructions_come_from_all() {
    let switchboard = Switchboard::with(&json!({
        "one": fixture(&["echo", "--era", "legacy"]), "two": fixture(&["echo", "--era", "modern"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    gateway.wait_for_tool("two__echo");
    let client = gateway.legacy(NEWEST_LEGACY);
    let own = ["builtin__summarize_file", "one__greet", "two__greet"];
    assert_eq!(client.names("prompts"), own);
    for name in ["one__greet", "two__greet"] {
        let prompt = json!({"name": name, "arguments": {"name": "Ada"}});
        let fetched = client.ask("prompts/get", &prompt);
        assert_eq!(fetched["result"]["messages"][0]["content"]["text"], "Hello, Ada.", "{fetched}");
    }
    let instructions = client.greeting["result"]["instructions"].as_str().unwrap();
    let expected = "# one\n\nA fixture for tests.\n\n# two\n\nA fixture for tests.";
    assert!(instructions.ends_with(expected), "{instructions}");
}

#[test]
fn a_cursor_leads_nowhere_in_another_list_or_for_somebody_who_sees_another() {
    let many = fixture(&["echo", "--tools", "1200"]);
    let switchboard = Switchboard::with(&json!({"many": many}));
    let whole = token(&switchboard, &["whole"]);
    let same = token(&switchboard, &["same"]);
    let narrow = token(&switchboard, &["narrow", "--server", "many"]);
    let options = ["--require-token", "--tools", "all"];
    let serving = ServingGateway::start(&switchboard, &options);
    serving.wait_for_tool(Some(&whole), "many__echo");
    let page = serving.ask(Some(&whole), "tools/list", json!({}));
    let cursor = &page["result"]["nextCursor"];
    assert!(cursor.is_string(), "{page}");
    for (token, method, is_ours) in [
        (&whole, "tools/list", true),
        (&same, "tools/list", true),
        (&narrow, "tools/list", false),
        (&whole, "prompts/list", false),
        (&whole, "resources/list", false),
        (&whole, "resources/templates/list", false),
    ] {
        let next = serving.ask(Some(token), method, json!({ "cursor": cursor }));
        let expected = if is_ours { Value::Null } else { json!(-32_602) };
        assert_eq!(next["error"]["code"], expected, "{method}");
    }
}

#[test]
fn an_address_that_says_whose_it_is_stays_good_when_nobody_else_has_it_any_more() {
    let echo = fixture(&["echo"]);
    let switchboard = Switchboard::with(&json!({"one": echo, "two": echo}));
    let gateway = Gateway::with_tool(&switchboard, &[], "two__echo");
    gateway.wait_for_tool("one__echo");
    let client = gateway.modern();
    let read = |uri: &str| client.ask("resources/read", &json!({"uri": uri}));
    let plain = "test://static-text";
    let ours = "switchboard:two:test://static-text";
    assert!(read(ours)["result"].is_object());
    switchboard.configure(&json!({"two": echo}));
    let gone = || !client.names("tools").contains(&"one__echo".to_owned());
    assert!(poll(TEST_TIMEOUT, || gone().then_some(())).is_some());
    for uri in [plain, ours] {
        assert!(read(uri)["result"].is_object(), "{uri}");
    }
    for uri in
        ["switchboard:one:test://static-text", "switchboard:two:switchboard:two:test://static-text"]
    {
        assert_eq!(read(uri)["error"]["code"], -32_602, "{uri}");
    }
    let recorded = switchboard.recorded_calls();
    assert_eq!(recorded, ["resource two/test://static-text: ok"; 3]);
}

#[test]
fn a_subscription_can_be_left_when_its_resource_is_gone_and_there_are_only_so_many() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let of = |number: usize| json!({"uri": format!("test://template/{number}")});
    for number in 0..1_000 {
        let subscribed = legacy.ask("resources/subscribe", &of(number));
        assert_eq!(subscribed["result"], json!({}), "{number}");
    }
    assert_eq!(legacy.ask("resources/subscribe", &of(1_000))["error"]["code"], -32_000);
    let many: Vec<Value> = (0..1_001).map(|number| of(number)["uri"].clone()).collect();
    let many = json!({"notifications": {"resourceSubscriptions": many}});
    let refused = gateway.modern().ask("subscriptions/listen", &many);
    assert_eq!(refused["error"]["code"], -32_000, "{refused}");
    assert_eq!(legacy.ask("resources/unsubscribe", &of(0))["result"], json!({}));
    assert_eq!(legacy.ask("resources/subscribe", &of(1_000))["result"], json!({}));
    switchboard.configure(&json!({}));
    let gone = || !legacy.names("tools").contains(&"one__echo".to_owned());
    assert!(poll(TEST_TIMEOUT, || gone().then_some(())).is_some());
    assert_eq!(legacy.ask("resources/unsubscribe", &of(1))["result"], json!({}));
    assert_eq!(legacy.ask("resources/unsubscribe", &of(1))["error"]["code"], -32_002);
}
