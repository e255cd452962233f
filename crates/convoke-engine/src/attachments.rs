//! Files that are attached to prompts: stored once, checked before a message refers to them, handed to agents, and
//! removed when no message refers to them any more.
//!
//! The files are stored in the home, by their hash. Nodes that share a database server also store
//! them there, since a prompt may be typed on one node, answered on another and read on a third
//! one. A file that is missing in the home is downloaded from the server once, and cached in the
//! home.

mod media;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use convoke_agents::driver::{AttachmentContent, PromptAttachment};
use convoke_agents::sandbox;
use convoke_agents::temp::TempFolder;
use convoke_core::prompt::{Attachment, NAME_BYTES_MAX, Prompt};
use convoke_files::blobs::{BLOB_BYTES_MAX, Blobs};
use convoke_files::index;
use convoke_store::Store;
use data_encoding::BASE64;

use crate::blocking::blocking;
use crate::error::{Error, Result};

/// How long a file that no message refers to is kept: it may be part of a prompt that is still being written.
const UNUSED_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// How often unused files are looked for.
const COLLECTION: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest text that is sent to an agent as part of a prompt; a longer one is passed as the
/// path of a file.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// The longest file of a project that is sent with its text where an agent prefers that.
const MENTION_BYTES_MAX: u64 = 64 << 10;
/// The size of all pictures, recordings and documents of one prompt that are sent inline; the
/// others are passed as paths of files. A frame with more would exceed what agents and models
/// accept.
const INLINE_BYTES_MAX: u64 = 20 << 20;

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The media type, detected from the bytes; the type that a client sent is ignored.
    pub media_type: &'static str,
}

/// The files that are attached to prompts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Attachments {
    blobs: Blobs,
    store: Store,
    random: fn() -> [u8; 16],
}

impl Attachments {
    pub(crate) fn new(home: &Path, store: Store, random: fn() -> [u8; 16]) -> Self {
        Self { blobs: Blobs::new(home.join("blobs")), store, random }
    }

    /// Stores a file under its hash. It is on the disk when this returns.
    pub async fn put(&self, bytes: Vec<u8>, name: &str) -> Result<Attachment> {
        let name = clean_name(name)?;
        if bytes.is_empty() {
            return Err(Error::EmptyAttachment { name });
        }
        if bytes.len() > BLOB_BYTES_MAX {
            return Err(Error::LargeAttachment { name, max: BLOB_BYTES_MAX });
        }
        let media_type = media::of(&bytes, &name).to_owned();
        let size = bytes.len() as u64;
        let blobs = self.blobs.clone();
        let (hash, bytes) = blocking(move || (blobs.put(&bytes), bytes)).await?;
        let hash = hash?;
        if self.store.keeps_blobs() {
            self.store.put_blob(&hash, &bytes).await?;
        }
        Ok(Attachment { hash, name, media_type, size })
    }

    /// Reads a stored file; `name` distinguishes kinds of text.
    pub async fn get(&self, hash: &str, name: &str) -> Result<Blob> {
        let unknown = || Error::UnknownAttachment { hash: hash.to_owned() };
        if !Attachment::is_hash(hash) {
            return Err(unknown());
        }
        let (blobs, of) = (self.blobs.clone(), hash.to_owned());
        let bytes = match blocking(move || blobs.read(&of)).await?? {
            Some(bytes) => bytes,
            None => self.fetch(hash).await?.ok_or_else(unknown)?,
        };
        Ok(Blob { media_type: media::of(&bytes, name), bytes })
    }

    /// Downloads a file that another node stored on the server, and caches it in this home.
    async fn fetch(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.store.blob(hash).await? else { return Ok(None) };
        let blobs = self.blobs.clone();
        let (stored, bytes) = blocking(move || (blobs.put(&bytes), bytes)).await?;
        if stored? == hash {
            return Ok(Some(bytes));
        }
        tracing::error!("the attachment {hash} is damaged on the server");
        Ok(None)
    }

    /// Uploads a file to the server if it is missing there, and protects it from garbage collection
    /// for now.
    async fn share(&self, hash: &str, bytes: &[u8]) -> Result<()> {
        if self.store.keeps_blobs() && !self.store.use_blob(hash).await? {
            self.store.put_blob(hash, bytes).await?;
        }
        Ok(())
    }

    /// The prompt with its attachments as they are stored: their size and type are looked up, whatever the client said.
    pub(crate) async fn check(&self, mut prompt: Prompt) -> Result<Prompt> {
        for attachment in &mut prompt.attachments {
            let name = clean_name(&attachment.name)?;
            let blob = self.get(&attachment.hash, &name).await?;
            self.share(&attachment.hash, &blob.bytes).await?;
            let (hash, size) = (attachment.hash.clone(), blob.bytes.len() as u64);
            *attachment = Attachment { hash, name, media_type: blob.media_type.to_owned(), size };
        }
        Ok(prompt)
    }

    /// The attachments and mentioned files of a prompt, for an agent that works in `workspace` and reads the files of `temp`.
    pub(crate) async fn prepare(
        &self,
        prompt: &Prompt,
        workspace: &Path,
        temp: Option<&TempFolder>,
    ) -> Result<Vec<PromptAttachment>> {
        let mut prepared = Vec::new();
        let mut inline = 0;
        for attachment in &prompt.attachments {
            let Blob { bytes, media_type } = self.get(&attachment.hash, &attachment.name).await?;
            let name = attachment.name.clone();
            let fail = |source| Error::Io { path: name.clone().into(), source };
            let path = match temp {
                Some(temp) => temp.put(&file_name(&name), &bytes, (self.random)()).map_err(fail)?,
                None => name.clone().into(),
            };
            inline += bytes.len() as u64;
            let content = content(bytes, media_type, inline <= INLINE_BYTES_MAX);
            prepared.push(PromptAttachment { name, path, content });
        }
        for file in &prompt.files {
            let path = index::inside(workspace, file);
            let path = path.ok_or_else(|| Error::OutsideProject { path: file.clone() })?;
            let text = sandbox::read_without_links(&path, MENTION_BYTES_MAX).ok().flatten();
            let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
            let content = AttachmentContent::Mention { text };
            prepared.push(PromptAttachment { name: file.clone(), path, content });
        }
        Ok(prepared)
    }

    /// Removes files that no message refers to, and that are not new.
    pub(crate) async fn collect_garbage(&self) -> Result<usize> {
        if self.blobs.is_empty() && !self.store.keeps_blobs() {
            return Ok(0);
        }
        let used = self.store.attachment_hashes().await?;
        let mut removed = 0;
        if self.store.keeps_blobs() {
            removed += self.store.remove_unused_blobs(&used, UNUSED_AGE).await?;
            self.share_all(&used).await?;
        }
        let blobs = self.blobs.clone();
        Ok(removed + blocking(move || blobs.remove_unused(&used, UNUSED_AGE)).await??)
    }

    /// Uploads the files that only this home has: they are older than the shared database, or only
    /// the database was copied to the server.
    async fn share_all(&self, used: &BTreeSet<String>) -> Result<()> {
        for hash in used {
            let (blobs, of) = (self.blobs.clone(), hash.clone());
            if let Ok(Some(bytes)) = blocking(move || blobs.read(&of)).await? {
                self.share(hash, &bytes).await?;
            }
        }
        Ok(())
    }

    /// Collects unused files once a day, as long as the runtime runs.
    pub(crate) fn start_collection(&self) {
        let attachments = self.clone();
        tokio::spawn(async move {
            loop {
                match attachments.collect_garbage().await {
                    Ok(0) => {}
                    Ok(count) => tracing::info!("removed {count} attachments that are not in use"),
                    Err(error) => tracing::warn!("cannot remove unused attachments: {error}"),
                }
                tokio::time::sleep(COLLECTION).await;
            }
        });
    }
}

fn content(bytes: Vec<u8>, media_type: &str, is_inline: bool) -> AttachmentContent {
    let (media_type, size) = (media_type.to_owned(), bytes.len() as u64);
    let family = media_type.split('/').next().unwrap_or_default().to_owned();
    match family.as_str() {
        // Models accept raster images only; an SVG is sent as text.
        "image" if is_inline && media_type != "image/svg+xml" => {
            AttachmentContent::Image { media_type, data: BASE64.encode(&bytes) }
        }
        "audio" if is_inline => {
            AttachmentContent::Audio { media_type, data: BASE64.encode(&bytes) }
        }
        _ if is_inline && media_type == "application/pdf" => {
            AttachmentContent::Document { media_type, data: BASE64.encode(&bytes) }
        }
        _ if bytes.len() <= TEXT_BYTES_MAX => match String::from_utf8(bytes) {
            Ok(text) => AttachmentContent::Text { media_type, text },
            Err(_) => AttachmentContent::File { media_type, size },
        },
        _ => AttachmentContent::File { media_type, size },
    }
}

/// A name for people: without control characters, and not a path.
fn clean_name(name: &str) -> Result<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let name: String = last.chars().filter(|c| !c.is_control()).collect();
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::LongAttachmentName { max: NAME_BYTES_MAX });
    }
    Ok(if name.is_empty() { "attachment".to_owned() } else { name })
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    const BYTES_MAX: usize = 200;
    let end = name.floor_char_boundary(BYTES_MAX);
    match name.get(..end).unwrap_or_default() {
        "." | ".." | "" => "attachment".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_a_name_is_neither_a_path_nor_an_escape_sequence() {
        let clean = |name: &str| clean_name(name).unwrap();
        assert_eq!(clean("/etc/passwd"), "passwd");
        assert_eq!(clean("..\\..\\x\u{1b}[31m.png"), "x[31m.png");
        assert_eq!(clean(" "), "attachment");
        assert_eq!(file_name(".."), "attachment");
        assert_eq!(file_name(&"ü".repeat(200)).len(), 200);
        assert!(clean_name(&"x".repeat(2000)).is_err());
    }

    #[test]
    fn l3_what_is_too_large_to_be_sent_is_a_file() {
        let png = || b"\x89PNG\r\n\x1a\n".to_vec();
        assert!(matches!(content(png(), "image/png", true), AttachmentContent::Image { .. }));
        assert!(matches!(content(png(), "image/png", false), AttachmentContent::File { .. }));
        assert!(matches!(
            content(b"<svg/>".to_vec(), "image/svg+xml", true),
            AttachmentContent::Text { .. }
        ));
        let long = vec![b'x'; TEXT_BYTES_MAX + 1];
        assert!(matches!(content(long, "text/plain", true), AttachmentContent::File { .. }));
    }
}
