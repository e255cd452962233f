//! The address of a PostgreSQL server, and connections to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_core::id::NodeId;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};

use super::tls::{self, Verification};
use crate::db::{PostgresSession, SqlResult};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection without a response for this long is broken.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// The settings of every connection: Convoke's schema only, and timeouts for statements and locks.
const OPTIONS: &str = "-c search_path=convoke -c statement_timeout=30s -c lock_timeout=10s \
     -c idle_in_transaction_session_timeout=60s -c timezone=UTC -c client_min_messages=warning";

/// A database on a PostgreSQL server.
#[derive(Clone)]
pub struct Server {
    config: Config,
    verification: Verification,
    shown: String,
    node: Option<NodeId>,
}

/// Why an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It is no address of a PostgreSQL database. The text itself is not named: it may hold a password.
    #[error("the URL is not understood: {0}")]
    Invalid(String),
    /// A parameter that is not supported.
    #[error("`{name}={value}` is not supported")]
    Parameter {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A file that it names cannot be used.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Where passwords come from that are not in the URL.
#[derive(Debug, Clone, Default)]
pub struct Passwords {
    /// `PGPASSWORD`.
    pub variable: Option<String>,
    /// A file with nothing but the password.
    pub file: Option<PathBuf>,
    /// A file in the format of `~/.pgpass`.
    pub passfile: Option<PathBuf>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.shown).finish()
    }
}

impl fmt::Display for Server {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What the connections of a daemon are called at the server.
pub(crate) fn application_name(node: Option<NodeId>) -> String {
    node.map_or_else(|| "convoke".to_owned(), |node| format!("convoke {node}"))
}

impl Server {
    /// Whether a text is meant as the address of a server, and not as a path.
    pub fn is_url(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Reads `postgres://user@host:port/database?sslmode=…`, and finds the password.
    pub fn parse(url: &str, passwords: &Passwords) -> Result<Self, ServerError> {
        if !Self::is_url(url) {
            return Err(ServerError::Invalid("it begins with postgres://".to_owned()));
        }
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut kept, mut mode, mut roots) = (Vec::new(), "prefer", None);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => {
                    let path = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
                    roots = Some(PathBuf::from(path.into_owned()));
                }
                Some(_) | None => kept.push(parameter),
            }
        }
        let (ssl_mode, verification) = Verification::of(mode, roots)?;
        let text = format!("{address}?{}", kept.join("&"));
        // The library's error text quotes no part of the URL.
        let mut config: Config = text.parse().map_err(|error: postgres::Error| invalid(&error))?;
        config.ssl_mode(ssl_mode);
        config.connect_timeout(CONNECT_TIMEOUT);
        config.tcp_user_timeout(SILENCE_MAX);
        config.keepalives_idle(SILENCE_MAX);
        config.application_name(&application_name(None));
        config.options(OPTIONS);
        let shown = shown(&config);
        if config.get_password().is_none()
            && let Some(password) = passwords.find(&config)?
        {
            config.password(password);
        }
        Ok(Self { config, verification, shown, node: None })
    }

    /// Whether the URL held a password, or one was found.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The database as errors name it.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.shown)
    }

    /// The server as a node uses it: what it stores belongs to that node.
    pub fn with_node(mut self, node: NodeId) -> Self {
        self.config.options(&format!("{OPTIONS} -c convoke.node={node}"));
        self.config.application_name(&application_name(Some(node)));
        self.node = Some(node);
        self
    }

    /// The node that connects, if it is set.
    pub(crate) const fn node(&self) -> Option<NodeId> {
        self.node
    }

    /// Connects. Blocking; not to be called on a runtime thread.
    pub(crate) fn connect(&self) -> SqlResult<PostgresSession> {
        Ok(PostgresSession::new(self.client()?))
    }

    fn client(&self) -> Result<Client, postgres::Error> {
        match self.config.get_ssl_mode() {
            SslMode::Disable => self.config.connect(NoTls),
            SslMode::Prefer | SslMode::Require | _ => {
                self.config.connect(tls::connector(&self.verification))
            }
        }
    }
}

fn invalid(error: &postgres::Error) -> ServerError {
    let source = std::error::Error::source(error).map(ToString::to_string);
    ServerError::Invalid(source.unwrap_or_else(|| error.to_string()))
}

/// User, hosts and database.
fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        };
        let port = ports.get(at).or_else(|| ports.first()).filter(|port| **port != 5432);
        port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"))
    });
    let hosts: Vec<String> = hosts.collect();
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    let database = config.get_dbname().or_else(|| config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.join(","))
}

impl Passwords {
    /// Those of the process's environment.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>, file: Option<PathBuf>) -> Self {
        let passfile = variable("PGPASSFILE").map(PathBuf::from);
        let home = variable("HOME").map(|home| Path::new(&home).join(".pgpass"));
        Self { variable: variable("PGPASSWORD"), file, passfile: passfile.or(home) }
    }

    fn find(&self, config: &Config) -> Result<Option<String>, ServerError> {
        if let Some(path) = &self.file {
            let text = std::fs::read_to_string(path).map_err(|error| ServerError::File {
                path: path.clone(),
                why: format!("the password cannot be read: {error}"),
            })?;
            return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
        }
        if let Some(password) = &self.variable {
            return Ok(Some(password.clone()));
        }
        let Some(passfile) = self.passfile.as_ref().filter(|path| path.is_file()) else {
            return Ok(None);
        };
        refuse_readable(passfile)?;
        let text = std::fs::read_to_string(passfile).map_err(|error| ServerError::File {
            path: passfile.clone(),
            why: error.to_string(),
        })?;
        Ok(text.lines().find_map(|line| password_in(line, config)))
    }
}

/// As libpq does: a file with passwords that others can read is not used.
fn refuse_readable(path: &Path) -> Result<(), ServerError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_or(0, |found| found.permissions().mode());
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let why = "others can read the passwords in it; run `chmod 600`".to_owned();
    Err(ServerError::File { path: path.to_owned(), why })
}

/// The password of a line `host:port:database:user:password`, if it is for this server.
fn password_in(line: &str, config: &Config) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let names: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(_) => "localhost".to_owned(),
        })
        .collect();
    let matches = |pattern: &str, value: &str| pattern == "*" || pattern == value;
    let ports = config.get_ports();
    let is_port = |port: &str| {
        port == "*"
            || ports.iter().any(|it| it.to_string() == port)
            || (ports.is_empty() && port == "5432")
    };
    let wanted = config.get_dbname().or_else(|| config.get_user()).unwrap_or_default();
    let is_ours = names.iter().any(|name| matches(host, name))
        && is_port(port)
        && matches(database, wanted)
        && matches(user, config.get_user().unwrap_or_default());
    is_ours.then(|| password.clone())
}

/// The fields between colons; a backslash takes the next letter as it is.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(letters.next()),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Server, ServerError> {
        Server::parse(url, &Passwords::default())
    }

    #[test]
    fn n5_a_password_is_never_shown() {
        for url in [
            "postgres://me:s3cret@db.example:5433/team",
            "postgres://me@db.example/team?password=s3cret",
        ] {
            let server = parse(url).unwrap();
            assert_eq!(server.config.get_password(), Some(b"s3cret".as_slice()));
            for text in [format!("{server}"), format!("{server:?}"), format!("{server:#?}")] {
                assert!(!text.contains("s3cret"), "{text}");
                assert!(text.contains("me@db.example"), "{text}");
            }
        }
        for url in ["postgres://me:s3cret@db:port/x", "postgres://me:s3cret@db/x?nonsense=1"] {
            let error = parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn the_mode_of_encryption_is_read_as_libpq_reads_it() {
        let mode = |text: &str| parse(&format!("postgres://db/x?sslmode={text}"));
        assert_eq!(mode("disable").unwrap().config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(parse("postgres://db/x").unwrap().config.get_ssl_mode(), SslMode::Prefer);
        for text in ["require", "verify-ca", "verify-full"] {
            assert_eq!(mode(text).unwrap().config.get_ssl_mode(), SslMode::Require);
        }
        assert_eq!(mode("maybe").unwrap_err().to_string(), "`sslmode=maybe` is not supported");
    }

    #[test]
    fn passwords_are_found_where_libpq_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, "# mine\n*:5433:*:me:first\ndb:*:te\\:am:me:a:b\\\\c\n").unwrap();
        let passwords = Passwords { passfile: Some(path.clone()), ..Passwords::default() };
        let find = |url: &str| {
            let server = Server::parse(url, &passwords)?;
            Ok(server.config.get_password().map(|it| String::from_utf8_lossy(it).into_owned()))
        };
        let refused: Result<Option<String>, ServerError> = find("postgres://me@db/x");
        assert!(refused.unwrap_err().to_string().contains("chmod 600"));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
        assert_eq!(find("postgres://me@any:5433/x").unwrap().as_deref(), Some("first"));
        assert_eq!(find("postgres://me@db/te%3Aam").unwrap().as_deref(), Some("a:b\\c"));
        assert_eq!(find("postgres://you@db/te%3Aam").unwrap(), None);
        assert_eq!(find("postgres://you:own@db/x").unwrap().as_deref(), Some("own"));
        let file = folder.path().join("password");
        std::fs::write(&file, "of the file\n").unwrap();
        let passwords = Passwords { file: Some(file), ..passwords.clone() };
        let server = Server::parse("postgres://me@db/x", &passwords).unwrap();
        assert_eq!(server.config.get_password(), Some(b"of the file".as_slice()));
    }
}
