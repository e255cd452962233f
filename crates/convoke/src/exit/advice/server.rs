//! Hints for errors of a database on a PostgreSQL server, and of the daemons that share it.

use std::path::Path;

use convoke_store::Error;
use convoke_store::location::Server;

/// The hint for an error that only a server has, or that means something else there; `None` for any other.
#[expect(clippy::wildcard_enum_match_arm, reason = "most errors are those of files, too")]
pub(super) fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::ReadOnly { path } if is_server(path) => {
            "it is a standby, or set to be read-only: name the primary server in store.url"
                .to_owned()
        }
        Error::Denied { path, .. } if is_server(path) => format!(
            "check the user and the database in store.url, and the password in store.password_file, PGPASSWORD or ~/.pgpass: `psql '{}'`",
            path.display()
        ),
        Error::DiskFull { path } if is_server(path) => {
            "free some space on the disk of the PostgreSQL server".to_owned()
        }
        Error::Unreachable { .. } => {
            "check that the server runs and that store.url names it: `convoke doctor`".to_owned()
        }
        Error::Untrusted { .. } => "switch TLS on at the server (ssl = on), or change sslmode and sslrootcert in store.url: \
             sslrootcert names the certificate of the authority that signed the server's"
            .to_owned(),
        Error::NodesRun { .. } => "stop them first (`convoke stop`, on those machines); \
             a daemon that was killed is forgotten after 15 seconds: `convoke node list`"
            .to_owned(),
        Error::NodeRuns { .. } => "stop it first: `convoke stop`, on that machine".to_owned(),
        Error::NodeNameTaken { .. } => {
            "give this one another name: node.name in config.toml".to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

/// Whether a database is named by a URL.
fn is_server(path: &Path) -> bool {
    path.to_str().is_some_and(Server::is_url)
}
