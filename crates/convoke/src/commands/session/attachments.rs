//! The attachments of a prompt: files of this machine, and mentioned files of the project.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::{FileMatches, GivenAttachment, GivenComment};
use convoke_files::blobs::BLOB_BYTES_MAX;

/// Why a file cannot be attached, or a review not be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttachError {
    /// It is a folder, a device or the like.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// It is too large.
    #[error("{} is larger than {} MiB, which is the limit for an attachment", path.display(), BLOB_BYTES_MAX >> 20)]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// It has no review.
    #[error("{} is not a review", path.display())]
    Review {
        /// The path.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
}

/// Reads the comments of a review.
pub(super) fn review(path: &Path) -> anyhow::Result<Vec<GivenComment>> {
    let json =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&json)
        .map_err(|source| AttachError::Review { path: path.to_owned(), source }.into())
}

/// A file to attach.
pub(super) struct ReadFile {
    name: String,
    bytes: Vec<u8>,
}

/// Reads the files before anything is sent: a mistyped path must not leave a partial result.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<ReadFile>> {
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> anyhow::Result<ReadFile> {
    let about = || format!("cannot read {}", path.display());
    let found = fs::metadata(path).with_context(about)?;
    if !found.is_file() {
        return Err(AttachError::NotAFile { path: path.to_owned() }.into());
    }
    let mut bytes = Vec::new();
    let limit = BLOB_BYTES_MAX as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .with_context(about)?;
    if bytes.len() > BLOB_BYTES_MAX {
        return Err(AttachError::TooLarge { path: path.to_owned() }.into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(ReadFile { name, bytes })
}

/// Stores the files at the daemon.
pub(super) async fn store(
    client: &Client,
    files: Vec<ReadFile>,
) -> anyhow::Result<Vec<GivenAttachment>> {
    let mut stored = Vec::new();
    for ReadFile { name, bytes } in files {
        stored.push(client.store_attachment(&name, bytes).await?.into());
    }
    Ok(stored)
}

/// The files and folders of a project that a text mentions as `@path`. Other words with `@` are
/// just text.
pub(super) async fn mentioned(
    client: &Client,
    project: &str,
    text: Option<&str>,
) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for path in convoke_files::mention::all(text.unwrap_or_default()) {
        let FileMatches { files: found } = client.files(project, &path).await?;
        let same = |it: &String| it.trim_end_matches('/') == path.trim_end_matches('/');
        files.extend(found.into_iter().find(same));
    }
    files.dedup();
    Ok(files)
}
