//! MCP over the WebSocket, and the tools as they are announced.

use std::collections::BTreeSet;

use pillion_protocol::claude::tools::{GET_DIAGNOSTICS, listed};
use serde_json::{Value, json};

use super::client::Client;
use crate::agent::Agent;
use crate::check::checks;
use crate::mcp::{
    KNOWN_VERSIONS, agreed_version, are_listed, ids, initialized, ping, unknown_method,
    unknown_tool,
};
use crate::message::{NEWEST_VERSION, answers, initialize_params};
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, shown};
use crate::shape::takes;
use crate::test_context::TestContext;

checks! {
    Tools:
    Must "K4-initialize" => initialize,
        "`initialize` is answered as MCP specifies",
        "The agent gives up the connection.";
    Must "K4-versions" => versions(&KNOWN_VERSIONS),
        "Every known revision of MCP is answered with a known one",
        "The agent gives up the connection.";
    Must "K4-unknown-version" => versions(&["2999-01-01"]),
        "An unknown revision of MCP is answered with a known one",
        "A newer agent gives up the connection, instead of speaking an older revision.";
    Must "K4-id" => ids([json!(0), json!(7), json!("seven"), json!("8")]) in client,
        "A response has the id of its request, with the same type",
        "The agent waits forever: it numbers its requests from 0.";
    Must "K4-notification" => notifications in client,
        "Notifications, also unknown ones, are not answered",
        "The agent sends `ide_connected`, and takes what has no id for an error of the protocol.";
    Must "K4-ping" => ping in client,
        "`ping` is answered with an empty result",
        "A client that monitors its connection considers it dead.";
    Must "K4-tools" => tools in client,
        "`openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics` are listed",
        "The agent calls all four, and offers to the model what is listed.";
    Should "K4-schemas" => schemas in client,
        "The schemas take what the agent sends",
        "A client that checks its arguments cannot make the call.";
    Must "K4-unknown-method" => unknown_method in client,
        "An unknown method is answered with error -32601",
        "A client that tries what a newer companion can do waits forever.";
    Must "K4-unknown-tool" => unknown_tool in client,
        "A call to an unknown tool fails",
        "A client that tries what a newer companion can do waits forever.";
    Should "K4-garbage" => garbage in client,
        "A message that is not JSON, or not a request, does not end the connection",
        "One message that is misread costs every open proposal.";
    Should "K4-batch" => batch in client,
        "A batch is answered or refused, and does not end the connection",
        "One message that is misread costs every open proposal.";
}

/// The answer to `initialize` with this version.
async fn shake(client: &mut Client<'_>, version: &str) -> Result<Value, Problem> {
    let params = initialize_params(version);
    Ok(client.ask_with_id(&json!(0), "initialize", params).await?)
}

async fn initialize(test: &TestContext) -> Finding {
    let client = Client::connect(test).await;
    let mut client = client.or_blocked(&["K2-upgrade", "K9-answers"], "there is no connection")?;
    let reply = shake(&mut client, NEWEST_VERSION).await?;
    Ok(shown(&initialized(&reply)?["serverInfo"]))
}

/// Each of these, on a connection of its own, is answered with one that agents know.
async fn versions(test: &TestContext, asked: &[&str]) -> Finding {
    test.has_clients().await?;
    let mut agreed_on = BTreeSet::new();
    for version in asked {
        let mut client = test.another(Client::connect).await?;
        let reply = shake(&mut client, version).await?;
        client.leave().await;
        let agreed = agreed_version(&reply).map_err(|problem| problem.about(version))?;
        if !KNOWN_VERSIONS.contains(&agreed) {
            return broken(format!("{version} is answered with {agreed}"));
        }
        agreed_on.insert(agreed.to_owned());
    }
    Ok(agreed_on.into_iter().collect::<Vec<_>>().join(", "))
}

async fn notifications(client: &mut Client<'_>) -> Finding {
    for method in ["notifications/cancelled", "log_event", "unheard/of"] {
        client.notify(method, json!({})).await?;
    }
    client.settle().await;
    let is_odd = |it: &&Value| it.get("method").is_none() && !answers(it, &json!(0));
    if let Some(odd) = client.heard().find(is_odd) {
        return broken(format!("received: {}", shown(odd)));
    }
    client.is_served().await?;
    Ok("no answer".to_owned())
}

async fn tools(client: &mut Client<'_>) -> Finding {
    let names = listed().map(|(name, _, _)| name);
    are_listed(client, &names).await
}

async fn schemas(client: &mut Client<'_>) -> Finding {
    let tools = client.tools().await?;
    for (name, _, wanted) in listed() {
        let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
            return blocked(&["K4-tools"], format!("`{name}` is missing"));
        };
        takes(&tool["inputSchema"], &wanted, name == GET_DIAGNOSTICS)
            .or_broken(format_args!("`{name}`"))?;
    }
    Ok("four schemas".to_owned())
}

async fn garbage(client: &mut Client<'_>) -> Finding {
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
}

async fn batch(client: &mut Client<'_>) -> Finding {
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let from = client.messages().len();
    let batch = json!([ping("one"), ping("two")]);
    client.send_text(batch.to_string()).await?;
    let (limit, is_reply) = (client.limit, |it: &Value| it.get("method").is_none());
    let Some(reply) = client.wait_from(from, limit, is_reply).await else {
        return broken(client.end().unwrap_or("it is neither answered nor refused"));
    };
    client.is_served().await?;
    Ok(shown(&reply))
}
