//! JSON of others, in bounded memory: a text of many small values would need a hundred times its
//! own size.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most values in one text: far more than any message of a companion needs.
const MAX_VALUES: usize = 200_000;

/// The value of a text.
///
/// # Errors
/// When it is no JSON, or holds too many values.
pub fn value(text: &[u8]) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let mut left = MAX_VALUES;
    let value = Bounded(&mut left).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Takes one value; it and all within count against how many are left.
struct Bounded<'a>(&'a mut usize);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.0.checked_sub(1);
        *self.0 = left.ok_or_else(|| D::Error::custom("too many values"))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Bounded(self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let value = object.next_value_seed(Bounded(self.0))?;
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_many_values_are_refused_wherever_they_are() {
        for (start, each, end) in [
            ("[", "0,", "0]"),
            ("[", "{\"a\":[]},", "0]"),
            ("{\"a\":[", "1e3,", "0]}"),
        ] {
            let text = |count| [start, &each.repeat(count), end].concat();
            assert!(value(text(MAX_VALUES / 4).as_bytes()).is_ok(), "{each}");
            let error = value(text(MAX_VALUES).as_bytes()).unwrap_err();
            assert!(error.to_string().contains("too many values"), "{error}");
        }
    }

    #[test]
    fn a_long_text_is_one_value() {
        let text = format!("\"{}\"", "[,]".repeat(MAX_VALUES));
        assert!(value(text.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn it_parses_a_text_as_every_other_parser_does(
            text in r#"( |\[|\]|\{|\}|"a":|"é\\n\\u0041"|,|:|null|true|-1|1\.5e3|18446744073709551616|1){0,12}"#,
        ) {
            let expected = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(value(text.as_bytes()).ok(), expected);
        }
    }
}
