//! Between JSON, which tests write, and MessagePack, which Neovim speaks.

use rmpv::Value as Packed;
use serde_json::{Map, Number, Value};

/// JSON as MessagePack.
pub fn pack(value: &Value) -> Packed {
    match value {
        Value::Null => Packed::Nil,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => Packed::Array(values.iter().map(pack).collect()),
        Value::Object(fields) => {
            let pairs = fields.iter();
            Packed::Map(
                pairs
                    .map(|(key, value)| (key.as_str().into(), pack(value)))
                    .collect(),
            )
        }
    }
}

/// MessagePack as JSON. Buffers, windows and tabs become their numbers; of bytes that are no UTF-8,
/// what can be shown.
pub fn unpack(value: &Packed) -> Value {
    match value {
        Packed::Nil => Value::Null,
        Packed::Boolean(value) => (*value).into(),
        Packed::Integer(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, number) => number.into(),
        },
        Packed::F32(number) => float((*number).into()),
        Packed::F64(number) => float(*number),
        Packed::String(text) => String::from_utf8_lossy(text.as_bytes()).into(),
        Packed::Binary(bytes) => String::from_utf8_lossy(bytes).into(),
        Packed::Array(values) => values.iter().map(unpack).collect(),
        Packed::Map(pairs) => {
            let fields = pairs.iter().map(|(key, value)| {
                let key = match unpack(key) {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                (key, unpack(value))
            });
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        // A handle: its number, packed once more.
        Packed::Ext(_, bytes) => {
            let mut bytes = bytes.as_slice();
            rmpv::decode::read_value(&mut bytes).map_or(Value::Null, |handle| unpack(&handle))
        }
    }
}

/// Lua has no other numbers: one without a fraction is a whole one.
fn float(number: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "only if it is the same")]
    let whole = number as i64;
    #[allow(clippy::cast_precision_loss, reason = "then they differ")]
    if whole as f64 == number {
        return whole.into();
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for value in [
            json!(null),
            json!([true, -1, 0, i64::MIN, u64::MAX, 1.5]),
            json!({ "text": "häßlich\0", "list": [], "fields": { "more": [[]] } }),
        ] {
            assert_eq!(unpack(&pack(&value)), value);
        }
    }

    #[test]
    fn what_json_lacks_becomes_what_is_closest() {
        let handle = Packed::Ext(0, vec![0xcd, 0x03, 0xe8]);
        assert_eq!(unpack(&handle), json!(1000));
        assert_eq!(unpack(&Packed::F64(3.0)), json!(3));
        assert_eq!(
            unpack(&Packed::Binary(vec![0xff, b'a'])),
            json!("\u{fffd}a")
        );
    }
}
