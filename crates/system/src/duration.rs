//! A duration as people write it, on the command line and in variables.

use std::time::Duration;

/// Reads a duration: `90` and `90s` are seconds; `ms`, `m` and `h` are the other units.
///
/// # Errors
/// When it is something else, or nothing.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a duration such as 90, 90s, 5m or 1h".to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit.trim() {
        "ms" => Some(number),
        "" | "s" => number.checked_mul(1000),
        "m" | "min" => number.checked_mul(60 * 1000),
        "h" => number.checked_mul(60 * 60 * 1000),
        _ => None,
    };
    let duration = millis.map(Duration::from_millis).ok_or_else(wrong)?;
    if duration.is_zero() {
        return Err("the duration must be greater than zero".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_or_are_seconds() {
        let millis = |text| parse(text).map(|duration| duration.as_millis()).ok();
        for (text, expected) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("250ms", 250),
            ("5 m", 300_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(millis(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "s",
            "-1",
            "1d",
            "1.5s",
            "0",
            "0ms",
            "99999999999999999999",
            "1s2",
            "é",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
