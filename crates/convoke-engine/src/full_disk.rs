//! What still works on a full disk: decisions of the owner's, in the space that was set aside for them.

use convoke_files::reserve::Released;

use crate::engine::Shared;
use crate::error::{Error, Result};

impl Shared {
    /// Gives up some of the reserve for a decision that could not be stored, so that it can be tried again. Fails with
    /// `error` when that would not help.
    pub(crate) fn make_room(&self, error: Error) -> Result<()> {
        if !error.is_disk_full() {
            return Err(error);
        }
        match self.reserve.release() {
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
}
