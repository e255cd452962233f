//! The list of paths where users keep secrets: hidden from every agent, unless its entry names them
//! as readable.

use std::path::{Path, PathBuf};

/// Paths below the user's home.
const IN_HOME: [&str; 86] = [
    // Keys and password stores.
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/gnome-keyring",
    ".config/keepassxc",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/1Password",
    ".config/op",
    ".pki",
    ".age",
    ".config/age",
    ".config/sops",
    ".Xauthority",
    ".ICEauthority",
    // Clouds, clusters, registries, forges.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/heroku",
    ".config/fly",
    ".fly",
    ".oci",
    ".kube",
    ".docker/config.json",
    ".docker/run",
    ".config/containers/auth.json",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/tea",
    ".git-credentials",
    ".config/git/credentials",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/rclone",
    ".s3cfg",
    ".boto",
    // Browser profiles, with cookies and stored pages.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".cache/mozilla",
    ".cache/google-chrome",
    ".cache/chromium",
    ".var/app",
    "snap",
    // Histories of shells and interpreters.
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".local/share/fish/fish_history",
    ".local/share/atuin",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".local/state/nvim",
    // Chat and mail.
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
];

/// Where agents store their logins and conversations. Each agent can access its own.
const OF_AGENTS: [&str; 25] = [
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
    ".config/goose",
    ".local/share/goose",
    ".local/state/goose",
    ".qwen",
    ".copilot",
    ".config/github-copilot",
    ".cline",
    ".kimi",
    ".kimi-code",
    ".vibe",
    ".cursor",
    ".config/Cursor",
    ".factory",
    ".aider",
    ".amp",
    ".config/amp",
    ".continue",
    ".config/zed",
];

/// Paths outside of the user's home, which matter if Convoke runs as root.
const IN_SYSTEM: [&str; 6] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
];

/// Every path that is hidden by default, for a user with this home.
pub fn places(home: Option<&Path>) -> Vec<PathBuf> {
    let names = IN_HOME.iter().chain(&OF_AGENTS);
    let in_home = home.into_iter().flat_map(|home| names.clone().map(|name| home.join(name)));
    in_home.chain(IN_SYSTEM.iter().map(PathBuf::from)).collect()
}

/// The paths that stay hidden from a process that may use `open`, with everything inside.
pub(crate) fn hidden(places: Vec<PathBuf>, open: &[PathBuf]) -> Vec<PathBuf> {
    let is_open = |place: &PathBuf| open.iter().any(|open| place.starts_with(open));
    places.into_iter().filter(|place| !is_open(place)).collect()
}
