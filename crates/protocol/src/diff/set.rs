//! Sets: several files that belong together, proposed one by one and decided one by one. They are marked by one more
//! argument of [`OPEN_DIFF`], of which the contract knows nothing: only Pillion's own commands send it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::diff::{OPEN_DIFF, kind_of, take_string};

/// The most files that a set can have.
pub const MAX_FILES: u32 = 100;

/// The longest name of a set, in bytes.
pub const MAX_NAME: usize = 100;

/// The name of the argument.
pub const SET: &str = "set";

/// The beginning of errors about its fields.
const ARGUMENT: &str = "openDiff: set";

/// The argument: which set a proposal belongs to, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetArgument {
    /// The proposer's name for the set. Nobody else sees it.
    pub name: String,
    /// The place of this file, from 1.
    pub place: u32,
    /// The number of files in the set.
    pub of: u32,
}

impl SetArgument {
    /// Takes it out of the arguments of a tool call, if it is there.
    ///
    /// # Errors
    /// Names the first field that is wrong, for the proposer.
    pub fn take(arguments: &mut Map<String, Value>) -> Result<Option<Self>, String> {
        let mut fields = match arguments.remove(SET) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(fields)) => fields,
            Some(other) => {
                let kind = kind_of(&other);
                return Err(format!("{OPEN_DIFF}: {SET} is {kind}, not an object"));
            }
        };
        let name = take_string(&mut fields, ARGUMENT, "name")?;
        let place = number(&fields, "place")?;
        let of = number(&fields, "of")?;
        let why = if name.is_empty() {
            "name is empty".to_owned()
        } else if name.len() > MAX_NAME {
            format!("name has {} bytes, more than {MAX_NAME}", name.len())
        } else if !(1..=u64::from(MAX_FILES)).contains(&of) {
            format!("of is {of}, not from 1 to {MAX_FILES}")
        } else if !(1..=of).contains(&place) {
            format!("place is {place}, not from 1 to {of}, the number of files")
        } else {
            let (place, of) = (place as u32, of as u32);
            return Ok(Some(Self { name, place, of }));
        };
        Err(format!("{ARGUMENT}: {why}"))
    }
}

fn number(fields: &Map<String, Value>, field: &str) -> Result<u64, String> {
    let value = fields.get(field);
    let value = value.ok_or_else(|| format!("{ARGUMENT}: {field} is missing"))?;
    let not_a_number = || format!("{ARGUMENT}: {field} is {value}, not a whole number from 1 on");
    value.as_u64().ok_or_else(not_a_number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn take(set: Value) -> Result<Option<SetArgument>, String> {
        let mut arguments = Map::from_iter([(SET.to_owned(), set)]);
        SetArgument::take(&mut arguments)
    }

    #[test]
    fn what_is_sent_is_read() {
        for (place, of) in [(1, 1), (2, 3), (100, 100)] {
            let sent = SetArgument {
                name: "patch 7".to_owned(),
                place,
                of,
            };
            assert_eq!(take(json!(sent)), Ok(Some(sent)));
        }
        assert_eq!(take(Value::Null), Ok(None));
        assert_eq!(SetArgument::take(&mut Map::new()), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let set =
            |name: &str, place: Value, of: Value| json!({"name": name, "place": place, "of": of});
        let long = "ä".repeat(51);
        for (wrong, why) in [
            (json!("x"), " is a string, not an object"),
            (json!({}), ": name is missing"),
            (json!({"name": 1}), ": name is a number, not a string"),
            (json!({"name": "x", "of": 3}), ": place is missing"),
            (json!({"name": "x", "place": 3}), ": of is missing"),
            (set("", json!(1), json!(3)), ": name is empty"),
            (
                set(&long, json!(1), json!(3)),
                ": name has 102 bytes, more than 100",
            ),
            (
                set("x", json!(0), json!(3)),
                ": place is 0, not from 1 to 3, the number of files",
            ),
            (
                set("x", json!(4), json!(3)),
                ": place is 4, not from 1 to 3, the number of files",
            ),
            (set("x", json!(1), json!(0)), ": of is 0, not from 1 to 100"),
            (
                set("x", json!(1), json!(101)),
                ": of is 101, not from 1 to 100",
            ),
            (
                set("x", json!(-1), json!(3)),
                ": place is -1, not a whole number from 1 on",
            ),
            (
                set("x", json!(1.5), json!(3)),
                ": place is 1.5, not a whole number from 1 on",
            ),
            (
                set("x", json!(u64::MAX), json!(3)),
                ": place is 18446744073709551615, not from 1 to 3, the number of files",
            ),
        ] {
            let expected = Err(format!("openDiff: set{why}"));
            assert_eq!(take(wrong.clone()), expected, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_a_panic(text in r#"[\[\]{}":,a-z0-9.\-]{0,60}"#, place: u64, of: u64) {
            let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            let _ = take(value.clone());
            let _ = take(json!({"name": "x", "place": place, "of": of}));
            let _ = take(json!({"name": value.clone(), "place": value.clone(), "of": value}));
        }
    }
}
