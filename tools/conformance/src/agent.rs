//! An agent's end of a session, whatever carries its messages.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::observation::Timed;
use crate::probe::NoAnswer;
use crate::reply::ToolReply;
use crate::rule::{Otherwise, Problem, broken, shown};

/// The time that it listens for in one go while it waits for something else.
const LISTEN_INTERVAL: Duration = Duration::from_secs(1);

/// An agent's end of a session.
pub(super) trait Agent {
    /// Everything that came, each with its time.
    fn messages(&self) -> &[Timed];

    /// Why nothing more comes, if so.
    fn end(&self) -> Option<&str>;

    /// A new id.
    fn new_id(&mut self) -> Value;

    /// Sends a request and waits for its answer.
    async fn ask_with_id(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Result<Value, NoAnswer>;

    /// Takes in what comes next; false when nothing did in time.
    async fn hear(&mut self, until: Instant) -> bool;

    /// Everything that came so far.
    fn heard(&self) -> impl Iterator<Item = &Value> {
        self.messages().iter().map(|(_, message)| message)
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        let id = self.new_id();
        self.ask_with_id(&id, method, params).await
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolReply, NoAnswer> {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await.map(ToolReply)
    }

    /// The tools that are listed.
    async fn tools(&mut self) -> Result<Vec<Value>, Problem> {
        let reply = self.ask("tools/list", json!({})).await;
        let reply = reply.or_broken("tools/list")?;
        match reply.pointer("/result/tools") {
            Some(Value::Array(tools)) => Ok(tools.clone()),
            _ => broken(format!("tools/list is answered with {}", shown(&reply))),
        }
    }

    /// Checks that requests are still answered here, by a request that every agent makes.
    async fn is_served(&mut self) -> Result<(), NoAnswer> {
        let reply = self.ask("tools/list", json!({})).await?;
        if reply.get("result").is_some() {
            return Ok(());
        }
        let shown = shown(&reply);
        NoAnswer::because(format!("tools/list is answered with {shown}"))
    }

    /// Takes in what comes for so long.
    async fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.hear(until).await {}
    }

    /// Waits for something and takes in what comes meanwhile.
    async fn listening<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = std::pin::pin!(other);
        loop {
            tokio::select! {
                done = &mut other => return done,
                () = self.listen(LISTEN_INTERVAL), if self.end().is_none() => {}
            }
        }
    }

    /// The first message that is as wanted, of those that came and those that come in time.
    async fn wait_for(
        &mut self,
        limit: Duration,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        self.wait_from(0, limit, is_wanted).await
    }

    /// The same, of those from this one on.
    async fn wait_from(
        &mut self,
        mut at: usize,
        limit: Duration,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let until = Instant::now() + limit;
        loop {
            while let Some((_, message)) = self.messages().get(at) {
                if is_wanted(message) {
                    return Some(message.clone());
                }
                at += 1;
            }
            if !self.hear(until).await {
                return None;
            }
        }
    }
}

/// The answer to `initialize`, if one can go on with it.
pub(super) fn initialized(reply: Value) -> Result<Value, NoAnswer> {
    if reply["result"].is_object() {
        return Ok(reply);
    }
    let shown = shown(&reply);
    NoAnswer::because(format!("initialize is answered with {shown}"))
}

/// The params of the messages with this method that came from this one on, each with its time.
pub(super) fn params_since(agent: &impl Agent, at: usize, method: &str) -> Vec<Timed> {
    let new = agent.messages()[at..].iter();
    let new = new.filter(|(_, message)| message["method"] == method);
    new.map(|(at, message)| (*at, message["params"].clone()))
        .collect()
}
