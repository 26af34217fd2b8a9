//! Paths and arguments in JSON: as text where they are text, else as their bytes. `serde` has a form for
//! neither: it refuses paths that are not UTF-8, and names the system for arguments.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

impl Word {
    fn of(word: &OsStr) -> Word {
        match word.to_str() {
            Some(text) => Word::Text(text.to_owned()),
            None => Word::Bytes(word.as_bytes().to_vec()),
        }
    }

    fn into_os(self) -> OsString {
        match self {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

/// For one of them.
pub(super) mod one {
    use super::{Deserialize, Deserializer, OsStr, OsString, Serialize, Serializer, Word};

    pub(in super::super) fn serialize<S: Serializer>(
        word: &impl AsRef<OsStr>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Word::of(word.as_ref()).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>, T: From<OsString>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        Ok(Word::deserialize(deserializer)?.into_os().into())
    }
}

/// For several.
pub(super) mod many {
    use super::{Deserialize, Deserializer, OsStr, OsString, Serialize, Serializer, Word};

    pub(in super::super) fn serialize<S: Serializer>(
        words: &[impl AsRef<OsStr>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let words: Vec<Word> = words.iter().map(|it| Word::of(it.as_ref())).collect();
        words.serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>, T: From<OsString>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let words = Vec::<Word>::deserialize(deserializer)?;
        Ok(words.into_iter().map(|it| it.into_os().into()).collect())
    }
}

/// For one that may be missing.
pub(super) mod maybe {
    use super::{Deserialize, Deserializer, OsStr, OsString, Serialize, Serializer, Word};

    pub(in super::super) fn serialize<S: Serializer>(
        word: &Option<impl AsRef<OsStr>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        word.as_ref().map(|it| Word::of(it.as_ref())).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>, T: From<OsString>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        Ok(Option::<Word>::deserialize(deserializer)?.map(|it| it.into_os().into()))
    }
}
