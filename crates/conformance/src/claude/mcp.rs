//! MCP over the WebSocket, and the tools as they are announced.

use std::collections::BTreeSet;

use pillion_protocol::claude::tools::listed;
use serde_json::{Value, json};

use super::client::{Client, another, answers, is_reply, session, with_client};
use crate::check::checks;
use crate::message::initialize_params;
use crate::probe::NoAnswer;
use crate::rule::{Finding, Problem, blocked, broken, shown};
use crate::session::ToolReply;
use crate::test_context::TestContext;
use crate::transport::KNOWN_VERSIONS;

checks! {
    Tools:
    Must "K4-initialize" => initialize,
        "`initialize` is answered as MCP specifies",
        "The agent gives up the connection.";
    Must "K4-versions" => versions,
        "Every known revision of MCP is answered with a known one",
        "The agent gives up the connection.";
    Must "K4-unknown-version" => unknown_version,
        "An unknown revision of MCP is answered with a known one",
        "A newer agent gives up the connection, instead of speaking an older revision.";
    Must "K4-id" => ids,
        "A response has the id of its request, with the same type",
        "The agent waits forever: it numbers its requests from 0.";
    Must "K4-notification" => notifications,
        "Notifications, also unknown ones, are not answered",
        "The agent sends `ide_connected`, and takes what has no id for an error of the protocol.";
    Must "K4-ping" => ping,
        "`ping` is answered with an empty result",
        "A client that monitors its connection considers it dead.";
    Must "K4-tools" => tools,
        "`openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics` are listed",
        "The agent calls all four, and offers to the model what is listed.";
    Should "K4-schemas" => schemas,
        "The schemas take what the agent sends",
        "A client that checks its arguments cannot make the call.";
    Must "K4-unknown-method" => unknown_method,
        "An unknown method is answered with error -32601",
        "A client that tries what a newer companion can do waits forever.";
    Must "K4-unknown-tool" => unknown_tool,
        "A call to an unknown tool fails",
        "A client that tries what a newer companion can do waits forever.";
    Should "K4-garbage" => garbage,
        "A message that is not JSON, or not a request, does not end the connection",
        "One message that is misread costs every open proposal.";
    Should "K4-batch" => batch,
        "A batch is answered or refused, and does not end the connection",
        "One message that is misread costs every open proposal.";
}

/// The answer to `initialize` with this version, on a connection of its own.
async fn shake(test: &TestContext, version: &str) -> Result<Value, Problem> {
    let mut client = another(test, Client::connect).await?;
    let reply = client
        .ask_with_id(json!(0), "initialize", initialize_params(version))
        .await;
    client.leave().await;
    Ok(reply?)
}

async fn initialize(test: &TestContext) -> Finding {
    let mut client = match Client::connect(test).await {
        Ok(client) => client,
        Err(NoAnswer { why, .. }) => return blocked(&["K2-upgrade", "K9-answers"], why),
    };
    let params = initialize_params(crate::message::NEWEST_VERSION);
    let reply = client.ask_with_id(json!(0), "initialize", params).await;
    client.leave().await;
    let reply = reply?;
    let result = &reply["result"];
    let is_text = |pointer: &str| result.pointer(pointer).is_some_and(Value::is_string);
    if reply["jsonrpc"] != "2.0" || !result["capabilities"].is_object() {
        return broken(format!("it is answered with {}", shown(&reply)));
    }
    for pointer in [
        "/protocolVersion",
        "/serverInfo/name",
        "/serverInfo/version",
    ] {
        if !is_text(pointer) {
            return broken(format!("{pointer} is missing: {}", shown(result)));
        }
    }
    Ok(shown(&result["serverInfo"]))
}

/// Whether a version is answered with one that agents know.
async fn agreed(test: &TestContext, version: &str) -> Finding {
    let reply = shake(test, version).await?;
    match reply
        .pointer("/result/protocolVersion")
        .and_then(Value::as_str)
    {
        Some(agreed) if KNOWN_VERSIONS.contains(&agreed) => Ok(agreed.to_owned()),
        _ => broken(format!("{version} is answered with {}", shown(&reply))),
    }
}

async fn versions(test: &TestContext) -> Finding {
    session(test).await?.leave().await;
    let mut agreed_on = BTreeSet::new();
    for version in KNOWN_VERSIONS {
        agreed_on.insert(agreed(test, version).await?);
    }
    Ok(agreed_on.into_iter().collect::<Vec<_>>().join(", "))
}

async fn unknown_version(test: &TestContext) -> Finding {
    session(test).await?.leave().await;
    agreed(test, "2999-01-01").await
}

async fn ids(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        for id in [json!(0), json!(7), json!("seven"), json!("8")] {
            let from = client.messages.len();
            client.start(&id, "tools/list", json!({})).await?;
            let limit = client.limit;
            match client.wait_from(from, limit, is_reply).await {
                Some(reply) if reply["id"] == id => {}
                Some(reply) => return broken(format!("{id} is answered as {}", reply["id"])),
                None => return broken(format!("{id} is not answered")),
            }
        }
        Ok("numbers and strings".to_owned())
    })
    .await
}

async fn notifications(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        for method in ["notifications/cancelled", "log_event", "unheard/of"] {
            client.notify(method, Some(json!({}))).await?;
        }
        client.listen(test.connection.timeouts.quiet).await;
        let mut messages = client.messages.iter().map(|(_, message)| message);
        let odd = messages.find(|it| it.get("method").is_none() && !answers(it, &json!(0)));
        match odd {
            None => {}
            Some(odd) => return broken(format!("received: {}", shown(odd))),
        }
        client.is_served().await?;
        Ok("no answer".to_owned())
    })
    .await
}

async fn ping(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let reply = client.ask("ping", json!({})).await?;
        match &reply["result"] {
            Value::Object(result) if result.is_empty() => Ok("{}".to_owned()),
            _ => broken(format!("it is answered with {}", shown(&reply))),
        }
    })
    .await
}

/// The tools that are listed.
async fn all_tools(client: &mut Client<'_>) -> Result<Vec<Value>, Problem> {
    let reply = client.ask("tools/list", json!({})).await?;
    match reply.pointer("/result/tools") {
        Some(Value::Array(tools)) => Ok(tools.clone()),
        _ => broken(format!("`tools/list` is answered with {}", shown(&reply))),
    }
}

async fn tools(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let tools = all_tools(client).await?;
        for (name, _, _) in listed() {
            if !tools.iter().any(|tool| tool["name"] == name) {
                return broken(format!("`{name}` is missing"));
            }
        }
        Ok(format!("{} tools", tools.len()))
    })
    .await
}

async fn schemas(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let tools = all_tools(client)
            .await
            .map_err(|problem| problem.or_of(&["K4-tools"]))?;
        for (name, _, wanted) in listed() {
            let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
                return blocked(&["K4-tools"], format!("`{name}` is missing"));
            };
            let schema = &tool["inputSchema"];
            if schema["type"] != "object" {
                return broken(format!("`{name}`: {}", shown(schema)));
            }
            let sent = wanted["properties"].as_object().into_iter().flatten();
            let sent: Vec<_> = sent.map(|(field, _)| field.as_str()).collect();
            for field in &sent {
                let known = &schema["properties"][field]["type"];
                let is_text = *known == "string" || *known == json!(["string", "null"]);
                let is_open = schema["properties"].get(field).is_none()
                    && schema["additionalProperties"] != false;
                if !is_text && !is_open {
                    return broken(format!("`{name}` does not take the string `{field}`"));
                }
            }
            let required = schema["required"].as_array().into_iter().flatten();
            let mut required = required.filter_map(Value::as_str);
            let optional = name == pillion_protocol::claude::tools::GET_DIAGNOSTICS;
            if let Some(field) = required.find(|field| optional || !sent.contains(field)) {
                return broken(format!(
                    "`{name}` requires `{field}`, which the agent leaves out"
                ));
            }
        }
        Ok("four schemas".to_owned())
    })
    .await
}

async fn unknown_method(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let reply = client.ask("pillion/none", json!({})).await?;
        match reply["error"]["code"].as_i64() {
            Some(-32601) => Ok("-32601".to_owned()),
            _ => broken(format!("it is answered with {}", shown(&reply))),
        }
    })
    .await
}

async fn unknown_tool(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let reply: ToolReply = client.call("pillionNone", json!({})).await?;
        match reply.is_error() {
            true => Ok(reply.shown()),
            false => broken(format!("it succeeds: {}", reply.shown())),
        }
    })
    .await
}

async fn garbage(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        for text in [
            "{",
            "",
            "null",
            "[]",
            "{}",
            r#"{"jsonrpc":"2.0","id":{},"method":7}"#,
        ] {
            client.send_text(text).await?;
        }
        client.is_served().await?;
        Ok("it goes on".to_owned())
    })
    .await
}

async fn batch(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let from = client.messages.len();
        client
            .send_text(json!([ping("one"), ping("two")]).to_string())
            .await?;
        let limit = client.limit;
        let is_reply = |it: &Value| it.get("method").is_none();
        let Some(reply) = client.wait_from(from, limit, is_reply).await else {
            let end = client.end.clone();
            return broken(end.unwrap_or_else(|| "it is neither answered nor refused".to_owned()));
        };
        client.is_served().await?;
        Ok(shown(&reply))
    })
    .await
}
