//! The attachments of a database that is copied: in a folder beside a file, in tables on a server.

use convoke_core::prompt::Attachment;
use convoke_files::blobs::Blobs;
use convoke_store::location::Location;
use convoke_store::transfer::{ServerBlobs, hashes_in_use};

use crate::output::aside;

/// Where attachments are.
enum AttachmentStore {
    Folder(Blobs),
    Server(Box<ServerBlobs>),
}

impl AttachmentStore {
    fn of(location: &Location) -> Self {
        match location {
            Location::File(path) => {
                let beside = path.parent().map(|home| home.join("blobs"));
                Self::Folder(Blobs::new(beside.unwrap_or_else(|| "blobs".into())))
            }
            Location::Server(server) => {
                Self::Server(Box::new(ServerBlobs::new((**server).clone())))
            }
        }
    }

    fn read(&self, hash: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(match self {
            Self::Folder(blobs) => blobs.read(hash)?,
            Self::Server(blobs) => blobs.read(hash)?,
        })
    }

    fn put(&self, hash: &str, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Folder(blobs) => blobs.put(bytes).map(drop)?,
            Self::Server(blobs) => blobs.put(hash, bytes)?,
        }
        Ok(())
    }
}

/// Copies the attachments that the copied messages refer to, one at a time; returns how many there are.
pub(super) fn copy(from: &Location, to: &Location) -> anyhow::Result<u64> {
    let (source, target) = (AttachmentStore::of(from), AttachmentStore::of(to));
    let mut copied = 0;
    for hash in hashes_in_use(from)?.iter().filter(|hash| Attachment::is_hash(hash)) {
        match source.read(hash)? {
            Some(bytes) => {
                target.put(hash, &bytes)?;
                copied += 1;
            }
            None => aside(&format!("the attachment {hash} is not there and is not copied\n")),
        }
    }
    Ok(copied)
}
