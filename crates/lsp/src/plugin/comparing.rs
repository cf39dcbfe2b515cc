//! Comparing and merging texts for a plugin, which needs no comparison of its own.

use lsp_server::RequestId;
use pillion_text::endings::comparable;
use pillion_text::{Text, hunks, merge};
use serde_json::{Value, json};

use super::codec;
use super::messages::{FindHunks, MergeTexts};
use crate::profile::{Action, Work};

/// The plugin asks where two texts differ.
pub fn find_hunks(request: RequestId, params: Value) -> Action {
    match codec::read(params) {
        Ok(FindHunks { original, content }) => work(request, move || {
            let [original, content] = [original.unwrap_or_default(), content].map(Text::new);
            json!({"hunks": hunks::between(&original, &content)})
        }),
        Err(why) => Action::invalid(request, why),
    }
}

/// The plugin asks what two changes of one text make together.
pub fn merge(request: RequestId, params: Value) -> Action {
    match codec::read(params) {
        Ok(MergeTexts {
            original,
            proposed,
            content,
        }) => work(request, move || {
            let like_proposed = |text| comparable(Text::new(text), &proposed);
            let original = like_proposed(original.unwrap_or_default());
            let content = like_proposed(content);
            let proposed = Text::new(proposed);
            let merged = merge::texts(&original, &proposed, &content);
            // All three texts are UTF-8, and what is merged is whole lines of them.
            let content = String::from_utf8_lossy(&merged.text);
            json!({"content": content, "hunks": merged.hunks, "conflicts": merged.conflicts})
        }),
        Err(why) => Action::invalid(request, why),
    }
}

/// Answers with what is worked out beside the loop.
fn work(request: RequestId, answer: impl FnOnce() -> Value + Send + 'static) -> Action {
    let answer = Work(Box::new(answer));
    Action::WorkOut { request, answer }
}

#[cfg(test)]
mod tests {
    use lsp_server::{Message, Request};

    use super::*;
    use crate::plugin::Plugin;
    use crate::plugin::messages::MERGE;
    use crate::position::Encoding;
    use crate::profile::ClientProfile as _;

    #[test]
    fn two_changes_of_one_text_are_merged() {
        let mut plugin = Plugin::new(Encoding::Utf8, None);
        let mut ask = |params: Value| {
            let (id, method) = (1.into(), MERGE.to_owned());
            match plugin.request(Request { id, method, params }).pop() {
                Some(Action::WorkOut { answer, .. }) => Ok((answer.0)()),
                Some(Action::Send(Message::Response(response))) => {
                    Err(response.response_result.unwrap_err().message)
                }
                other => panic!("{other:?}"),
            }
        };
        let merged = ask(
            json!({ "original": "a\nb\nc\n", "proposed": "a\nb\nC\n", "content": "A\nb\nc\n" }),
        );
        let hunks =
            json!([{ "before": { "start": 2, "end": 3 }, "after": { "start": 2, "end": 3 } }]);
        let expected = json!({ "content": "A\nb\nC\n", "hunks": hunks, "conflicts": 0 });
        assert_eq!(merged, Ok(expected));

        let endings = ask(
            json!({ "original": "a\r\nb\r\n", "proposed": "a\nB\n", "content": "x\r\na\r\nb\r\n" }),
        );
        assert_eq!(endings.unwrap()["content"], "x\na\nB\n");

        let conflict = ask(json!({ "proposed": "theirs\n", "content": "ours\n" })).unwrap();
        assert_eq!(
            (&conflict["content"], &conflict["conflicts"]),
            (&json!("ours\n"), &json!(1))
        );

        let refused = ask(json!({ "proposed": "", "original": 1, "content": "" })).unwrap_err();
        assert!(refused.contains("original"), "{refused}");
    }
}
