//! Values that go from one process to another without a change: texts that are no Unicode, paths, times before 1970.

#![allow(missing_docs, reason = "serde calls them by their names")]

/// Bytes: as a string if they are Unicode, or else as numbers.
pub mod bytes {
    use std::fmt;

    use serde::de::{SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Before as much has come, its announced length is not believed.
    const MAX_ROOM: usize = 1 << 20;

    struct Bytes(Vec<u8>);

    pub fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let Some(bytes) = bytes else {
            return serializer.serialize_none();
        };
        match std::str::from_utf8(bytes) {
            Ok(text) => text.serialize(serializer),
            Err(_) => serializer.collect_seq(bytes),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let bytes = Option::<Bytes>::deserialize(deserializer)?;
        Ok(bytes.map(|Bytes(bytes)| bytes))
    }

    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Form)
        }
    }

    struct Form;

    impl<'de> Visitor<'de> for Form {
        type Value = Bytes;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or bytes")
        }

        fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
            Ok(Bytes(text.as_bytes().to_vec()))
        }

        fn visit_string<E>(self, text: String) -> Result<Bytes, E> {
            Ok(Bytes(text.into_bytes()))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bytes, A::Error> {
            let room = items.size_hint().unwrap_or_default().min(MAX_ROOM);
            let mut bytes = Vec::with_capacity(room);
            while let Some(byte) = items.next_element()? {
                bytes.push(byte);
            }
            Ok(Bytes(bytes))
        }
    }
}

/// A path: as a string if it is Unicode, or else as the system has it.
pub mod path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Other(OsString),
    }

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(serializer),
            None => path.as_os_str().serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into(),
            Form::Other(path) => path.into(),
        })
    }
}

/// Paths, in the same form.
pub mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Item(#[serde(with = "super::path")] PathBuf);

    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().cloned().map(Item))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<Item>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(|Item(path)| path).collect())
    }
}

/// A path that may be missing.
pub mod optional_path {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Item(#[serde(with = "super::path")] PathBuf);

    pub fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.clone().map(Item).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Item>::deserialize(deserializer)?.map(|Item(path)| path))
    }
}

/// A text that is shared.
pub mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(text: &Arc<String>, serializer: S) -> Result<S::Ok, S::Error> {
        text.as_str().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<String>, D::Error> {
        String::deserialize(deserializer).map(Arc::new)
    }
}

/// Durations in whole milliseconds, which is as exact as a keyboard.
pub mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Millis(u64);

    impl From<&Duration> for Millis {
        fn from(duration: &Duration) -> Self {
            Self(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
        }
    }

    impl From<Millis> for Duration {
        fn from(Millis(millis): Millis) -> Self {
            Self::from_millis(millis)
        }
    }

    pub fn serialize<S: Serializer>(
        durations: &[Duration],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(durations.iter().map(Millis::from))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Duration>, D::Error> {
        let durations = Vec::<Millis>::deserialize(deserializer)?;
        Ok(durations.into_iter().map(Duration::from).collect())
    }

    /// One that may be missing.
    pub mod optional {
        use super::{Deserialize, Deserializer, Duration, Millis, Serialize, Serializer};

        pub fn serialize<S: Serializer>(
            duration: &Option<Duration>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            duration.as_ref().map(Millis::from).serialize(serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Duration>, D::Error> {
            Ok(Option::<Millis>::deserialize(deserializer)?.map(Duration::from))
        }
    }
}

/// A time, to the nanosecond: whether it is before 1970, and how far from it.
pub mod time {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(
        time: &Option<SystemTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let distance = time.map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => (false, after),
            Err(error) => (true, error.duration()),
        });
        distance.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SystemTime>, D::Error> {
        let distance = Option::<(bool, Duration)>::deserialize(deserializer)?;
        Ok(distance.and_then(|(is_before, distance)| match is_before {
            true => UNIX_EPOCH.checked_sub(distance),
            false => UNIX_EPOCH.checked_add(distance),
        }))
    }
}
