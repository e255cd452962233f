//! The remote of a repository, normalised so that all addresses of one repository are equal.
//!
//! The configuration is read as data: git is not started, and includes are ignored.

use std::path::Path;

use super::Project;
use crate::checkpoint::{GitFolder, read_bounded};

/// Longer configurations are not read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The remote of the repository around a folder: `origin`, else the only one. With the path of the folder inside of the
/// repository, if it is not its root. `None` without a remote, or with one on the same machine.
pub fn remote_of(folder: &Path) -> Option<String> {
    let top = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let config = GitFolder::find(top)?.common.join("config");
    let text = String::from_utf8(read_bounded(&config, CONFIG_BYTES_MAX)?).ok()?;
    let remotes = remotes(&text);
    let chosen = match remotes.iter().find(|remote| remote.name == "origin") {
        Some(origin) => origin,
        None => remotes.first().filter(|_| remotes.len() == 1)?,
    };
    let remote = normalized(&chosen.url)?;
    let inner = folder.strip_prefix(top).ok()?.to_str()?;
    Some(if inner.is_empty() { remote } else { format!("{remote}//{inner}") })
}

/// A remote, as the configuration has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) name: String,
    pub(crate) url: String,
    push_url: Option<String>,
    /// The mark that `gh` makes of the repository that pull requests are for.
    gh_resolved: Option<String>,
}

impl Remote {
    /// Its settings, with their keys.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let optional = [("pushurl", &self.push_url), ("gh-resolved", &self.gh_resolved)];
        let optional =
            optional.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?)));
        [("url", self.url.as_str())].into_iter().chain(optional)
    }

    /// Whether its name and its settings are plain words that no command takes for an option.
    fn is_plain(&self) -> bool {
        let is_plain = |text: &str| {
            !text.starts_with('-') && !text.is_empty() && !text.contains(char::is_control)
        };
        is_plain(&self.name) && self.settings().all(|(_, value)| is_plain(value))
    }
}

impl Project {
    /// Its remotes. The configuration is read as data.
    pub(crate) fn remotes(&self) -> Vec<Remote> {
        let config = read_bounded(&self.folder.common.join("config"), CONFIG_BYTES_MAX);
        let text = config.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let mut found = text.map(|text| remotes(&text)).unwrap_or_default();
        found.retain(Remote::is_plain);
        found
    }
}

/// All remotes that have an address, with the first of each.
fn remotes(config: &str) -> Vec<Remote> {
    let mut found: Vec<Remote> = Vec::new();
    let mut remote: Option<String> = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default();
            let (kind, name) = section.split_once([' ', '\t']).unwrap_or((section, ""));
            let name = name.trim().trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
            remote = kind.eq_ignore_ascii_case("remote").then_some(name);
            continue;
        }
        let (Some(name), Some((key, value))) = (&remote, line.split_once('=')) else { continue };
        let (key, value) = (key.trim().to_ascii_lowercase(), unquoted(value.trim()));
        let at = found.iter().position(|it| it.name == *name).unwrap_or_else(|| {
            found.push(Remote { name: name.clone(), ..Remote::default() });
            found.len() - 1
        });
        let Some(known) = found.get_mut(at) else { continue };
        match key.as_str() {
            "url" if known.url.is_empty() => known.url = value,
            "pushurl" if known.push_url.is_none() => known.push_url = Some(value),
            "gh-resolved" => known.gh_resolved = Some(value),
            _ => {}
        }
    }
    found.retain(|remote| !remote.url.is_empty());
    found
}

/// A value without quotes and without the comment after it.
fn unquoted(value: &str) -> String {
    if let Some(rest) = value.strip_prefix('"') {
        return rest.split('"').next().unwrap_or_default().to_owned();
    }
    let end = value.find([';', '#']).unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

/// Host and path of an address: `git@Host:a/b.git` and `https://host/a/b` are the same repository.
fn normalized(address: &str) -> Option<String> {
    let (host, path) = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/')?;
            (without_default_port(scheme, without_user(host)), path)
        }
        // In scp's syntax; a slash before the colon makes it a path.
        None => {
            let (host, path) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            (without_user(host).to_owned(), path)
        }
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    // A file on this machine is another one elsewhere.
    let is_whole = !host.is_empty() && !path.is_empty();
    is_whole.then(|| format!("{}/{path}", host.to_ascii_lowercase()))
}

/// A host without the user and the password before it.
fn without_user(host: &str) -> &str {
    host.rsplit('@').next().unwrap_or(host)
}

fn without_default_port(scheme: &str, host: &str) -> String {
    let port = match scheme.to_ascii_lowercase().as_str() {
        "ssh" | "git+ssh" | "ssh+git" => ":22",
        "https" => ":443",
        "http" => ":80",
        "git" => ":9418",
        _ => "",
    };
    let bare = host.strip_suffix(port).filter(|_| !port.is_empty());
    bare.unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn n8_all_addresses_of_a_repository_are_equal() {
        for address in [
            "https://github.com/Ada/web",
            "https://GitHub.com/Ada/web.git",
            "https://ada:secret@github.com:443/Ada/web.git/",
            "git@github.com:Ada/web.git",
            "github.com:Ada/web",
            "ssh://git@github.com/Ada/web.git",
            "ssh://git@github.com:22/Ada/web",
            "git://github.com/Ada/web",
        ] {
            assert_eq!(normalized(address).as_deref(), Some("github.com/Ada/web"), "{address}");
        }
        assert_eq!(
            normalized("ssh://git@host:2222/a/b.git").as_deref(),
            Some("host:2222/a/b"),
            "another port is another server"
        );
        assert_ne!(normalized("https://h/Ada/web"), normalized("https://h/ada/web"));
        for address in ["/srv/git/web.git", "file:///srv/git/web.git", "../web", "", "https://h/"] {
            assert_eq!(normalized(address), None, "{address}");
        }
    }

    #[test]
    fn n8_the_remote_is_origin_or_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        fs::create_dir_all(folder.path().join("part/a")).unwrap();
        fs::create_dir(&git).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let remote = |config: &str| {
            fs::write(git.join("config"), config).unwrap();
            remote_of(folder.path())
        };
        assert_eq!(remote("[core]\n\turl = x:y\n"), None);
        let one = "[core]\n\tbare = false\n[remote \"up\"]\n\tfetch = +a:b\n\turl = git@h:a/b.git ; mine\n";
        assert_eq!(remote(one).as_deref(), Some("h/a/b"));
        let two =
            format!("{one}[Remote \"origin\"]\n\turl = \"https://h/c/d\"\n\turl = https://h/e\n");
        assert_eq!(remote(&two).as_deref(), Some("h/c/d"));
        assert_eq!(remote_of(&folder.path().join("part/a")).as_deref(), Some("h/c/d//part/a"));
        let neither = two.replace("origin", "other");
        assert_eq!(remote(&neither), None, "which one is meant?");
    }
}
