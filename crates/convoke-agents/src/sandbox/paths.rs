//! Paths in the messages between the daemon, the supervisor and the last stage.
//!
//! Paths are bytes, and serde refuses those that are not UTF-8: an agent could make a folder with
//! such a name, and no agent could be started there again.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::policy::Text;

/// A value with paths in it, which has a serialised form.
pub(super) trait WithPaths: Sized {
    type Wire: Serialize + for<'a> Deserialize<'a>;

    fn to_wire(&self) -> Self::Wire;
    fn from_wire(wire: Self::Wire) -> Self;
}

impl WithPaths for PathBuf {
    type Wire = Text;

    fn to_wire(&self) -> Text {
        Text::from(self.as_os_str())
    }

    fn from_wire(wire: Text) -> Self {
        OsString::from(wire).into()
    }
}

impl<T: WithPaths> WithPaths for Vec<T> {
    type Wire = Vec<T::Wire>;

    fn to_wire(&self) -> Self::Wire {
        self.iter().map(T::to_wire).collect()
    }

    fn from_wire(wire: Self::Wire) -> Self {
        wire.into_iter().map(T::from_wire).collect()
    }
}

impl<T: WithPaths> WithPaths for Option<T> {
    type Wire = Option<T::Wire>;

    fn to_wire(&self) -> Self::Wire {
        self.as_ref().map(T::to_wire)
    }

    fn from_wire(wire: Self::Wire) -> Self {
        wire.map(T::from_wire)
    }
}

pub(super) fn serialize<T: WithPaths, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.to_wire().serialize(to)
}

pub(super) fn deserialize<'a, T: WithPaths, D: Deserializer<'a>>(from: D) -> Result<T, D::Error> {
    T::Wire::deserialize(from).map(T::from_wire)
}
