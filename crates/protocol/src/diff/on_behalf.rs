//! Proposals of a command for an agent: the agent's hook shows what it is about to change. They are marked by one more
//! argument of [`OPEN_DIFF`], of which the contract knows nothing: only Pillion's own commands send it. It changes the name
//! that people are shown, and nothing else: what is proposed is still the command's, by every rule.

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::diff::{OPEN_DIFF, take_string};

/// The name of the argument, whose value is the short name of the agent.
pub const ON_BEHALF_OF: &str = "onBehalfOf";

/// Takes the agent out of the arguments of a tool call, if they name one that is known here.
///
/// # Errors
/// When it is not a string, for the proposer.
pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Option<Dialect>, String> {
    if arguments.get(ON_BEHALF_OF).is_none_or(Value::is_null) {
        return Ok(None);
    }
    let name = take_string(arguments, OPEN_DIFF, ON_BEHALF_OF)?;
    // The command may be newer, and know more agents.
    Ok(Dialect::from_name(&name).filter(|agent| *agent != Dialect::Script))
}

/// The agent whose name people are shown for a proposal of `proposer`.
pub fn shown(proposer: Dialect, on_behalf_of: Option<Dialect>) -> Dialect {
    on_behalf_of.unwrap_or(proposer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_agent_is_known_and_nothing_else() {
        let take = |name: Value| take(&mut Map::from_iter([(ON_BEHALF_OF.to_owned(), name)]));
        for agent in Dialect::ALL {
            let expected = Some(agent).filter(|it| *it != Dialect::Script);
            assert_eq!(take(json!(agent.name())), Ok(expected));
        }
        for unknown in ["", "Codex CLI", "codexCli", "CODEX", "a\nb"] {
            assert_eq!(take(json!(unknown)), Ok(None), "{unknown:?}");
        }
        assert_eq!(take(Value::Null), Ok(None));
        assert_eq!(super::take(&mut Map::new()), Ok(None));
        for (wrong, kind) in [
            (json!(true), "a boolean"),
            (json!(["codex"]), "an array"),
            (json!({"name": "codex"}), "an object"),
        ] {
            let why = format!("openDiff: onBehalfOf is {kind}, not a string");
            assert_eq!(take(wrong), Err(why));
        }
    }
}
