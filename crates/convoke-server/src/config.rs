//! Access to the settings in `config.toml`, through functions that the binary passes in; this crate
//! does not know the file format.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::http::StatusCode;
use convoke_api::bodies::{Config, ConfigPatch, code};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// The setting that selects the editor, or the URL, with which the page opens files.
const EDITOR: &str = "editor.open";
/// The command that opens paths if that setting is empty.
const EDITOR_COMMAND: &str = "editor.command";
/// The value that clients see for an editor that is opened by the command.
const COMMAND: &str = "command";

/// How the settings are read and changed. Both block.
pub struct ConfigAccess {
    /// Reads all settings.
    pub read: ReadConfig,
    /// Writes changes, and reads all settings again.
    pub change: ChangeConfig,
    /// Opens a file with the configured command.
    pub open: OpenFile,
}

/// Reads all settings.
pub type ReadConfig = Arc<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>;

/// Writes changes, and reads all settings again.
pub type ChangeConfig = Arc<dyn Fn(ConfigPatch) -> Result<Config, ConfigError> + Send + Sync>;

/// Opens a file with the command `editor.command`.
pub type OpenFile = Arc<dyn Fn(OpenedFile) -> Result<(), ConfigError> + Send + Sync>;

/// A file that is to be opened in the user's editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// Its path, absolute.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
}

/// Why the settings cannot be read or changed. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// There is no such setting.
    Unknown(String),
    /// A change is not valid.
    Invalid(String),
    /// The file has mistakes, or was changed at the same time; with a hint.
    Conflict(String, String),
    /// The file cannot be read or written.
    Failed(String),
}

/// The settings, once the binary has enabled access.
#[derive(Default)]
pub(crate) struct ConfigStore {
    access: OnceLock<ConfigAccess>,
    /// The value of `editor.open` when the settings were last read, or `command`.
    editor: RwLock<Option<String>>,
    /// Serialises changes.
    lock: ChangeLock,
}

struct ChangeLock(Semaphore);

impl Default for ChangeLock {
    fn default() -> Self {
        Self(Semaphore::new(1))
    }
}

impl ConfigStore {
    /// Enables access, and reads the settings once.
    pub(crate) async fn enable(&self, access: ConfigAccess) {
        // `enable` is called once.
        self.access.set(access).ok();
        if let Err(failure) = self.read().await {
            tracing::warn!("cannot read the settings: {}", failure.message().0);
        }
    }

    /// The value of `editor.open`; `command` if that is empty and there is a command; otherwise nothing.
    pub(crate) fn editor(&self) -> Option<String> {
        self.editor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn read(&self) -> Result<Config, Failure> {
        let read = Arc::clone(&self.access()?.read);
        self.finish(tokio::task::spawn_blocking(move || read()).await)
    }

    pub(crate) async fn change(&self, patch: ConfigPatch) -> Result<Config, Failure> {
        let change = Arc::clone(&self.access()?.change);
        // The semaphore is never closed.
        let _lock = self.lock.0.acquire().await.map_err(|_| convoke_engine::Error::Stopping)?;
        self.finish(tokio::task::spawn_blocking(move || change(patch)).await)
    }

    /// Opens a file in the user's editor.
    pub(crate) async fn open(&self, file: OpenedFile) -> Result<(), Failure> {
        let open = Arc::clone(&self.access()?.open);
        let opened = tokio::task::spawn_blocking(move || open(file)).await;
        Ok(opened.map_err(|error| Failure::internal(error.to_string()))??)
    }

    fn access(&self) -> Result<&ConfigAccess, Failure> {
        self.access.get().ok_or_else(|| {
            let detail = "the settings cannot be read yet";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, code::STARTING, detail)
                .hint("try again in a few seconds")
        })
    }

    fn finish(
        &self,
        done: Result<Result<Config, ConfigError>, tokio::task::JoinError>,
    ) -> Result<Config, Failure> {
        let config = done.map_err(|error| Failure::internal(error.to_string()))??;
        let value = |key| config.settings.iter().find(|it| it.key == key).map(|it| &it.value);
        let open = value(EDITOR).and_then(Value::as_str).filter(|value| !value.is_empty());
        let command = value(EDITOR_COMMAND).and_then(Value::as_array).filter(|it| !it.is_empty());
        let editor = open.or(command.map(|_| COMMAND)).map(ToOwned::to_owned);
        *self.editor.write().unwrap_or_else(PoisonError::into_inner) = editor;
        Ok(config)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Unknown(detail) => {
                Self::new(StatusCode::NOT_FOUND, code::NOT_FOUND, detail)
            }
            ConfigError::Invalid(detail) => Self::invalid(detail),
            ConfigError::Conflict(detail, hint) => {
                Self::new(StatusCode::CONFLICT, code::INVALID_CONFIG, detail).hint(hint)
            }
            ConfigError::Failed(chain) => Self::internal(chain),
        }
    }
}
