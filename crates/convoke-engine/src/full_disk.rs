//! Decisions of the human still work on a full disk, in space that is reserved for them.

use convoke_files::reserve::{Released, Reserve};

use crate::error::{Error, Result};

/// Releases part of the reserve after a decision could not be stored, so that the caller can retry. Fails with
/// `error` if that would not help.
pub(crate) fn make_room(reserve: &Reserve, error: Error) -> Result<()> {
    if !error.is_disk_full() {
        return Err(error);
    }
    match reserve.release() {
        Ok(Released::Some) => {
            tracing::warn!("the disk is full: the reserve gives up space for a decision");
            Ok(())
        }
        Ok(Released::None) => Err(error),
        Err(cause) => {
            tracing::error!("the reserve cannot give up space: {cause}");
            Err(error)
        }
    }
}
