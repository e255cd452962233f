//! The path of a session file of `claude`. The rule is undocumented: found by experiment, and
//! checked against the real program.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Longer names are cut, and made unique by a hash.
const NAME_UNITS_MAX: usize = 200;

/// The file in which `claude` stores the session `id` of the project in `workspace`, which must be
/// the real path.
///
/// Different workspaces can share a folder (`my.app` and `my-app` do), so the name does not
/// identify the workspace.
pub fn session_file(home: &Path, workspace: &Path, id: &str) -> PathBuf {
    session_file_in(&home.join(".claude"), workspace, id)
}

/// As `session_file`, below the folder in `CLAUDE_CONFIG_DIR`, which replaces `~/.claude`.
pub fn session_file_in(settings: &Path, workspace: &Path, id: &str) -> PathBuf {
    settings.join("projects").join(folder_name(workspace)).join(format!("{id}.jsonl"))
}

/// The workspace's path as a folder name: every UTF-16 unit that is no ASCII letter or digit becomes a dash.
fn folder_name(workspace: &Path) -> String {
    let path = String::from_utf8_lossy(workspace.as_os_str().as_bytes());
    let name: String = path.encode_utf16().map(letter_or_dash).collect();
    match name.get(..NAME_UNITS_MAX) {
        Some(start) if name.len() > NAME_UNITS_MAX => format!("{start}-{}", base36(hash(&path))),
        Some(_) | None => name,
    }
}

fn letter_or_dash(unit: u16) -> char {
    u8::try_from(unit).map(char::from).ok().filter(char::is_ascii_alphanumeric).unwrap_or('-')
}

/// Java's hash of a string, without its sign.
fn hash(text: &str) -> u32 {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, add).unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).expect("a rest of 36 is a digit of base 36"));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t11_a_session_file_lies_where_claude_puts_it() {
        let file = session_file(Path::new("/home/me"), Path::new("/w/my.app"), "a1b2");
        assert_eq!(file, Path::new("/home/me/.claude/projects/-w-my-app/a1b2.jsonl"));
    }

    #[test]
    fn t11_every_unit_that_is_no_letter_or_digit_becomes_a_dash() {
        for (workspace, name) in [
            ("/home/me/projects/iris-mcp", "-home-me-projects-iris-mcp"),
            ("/home/me/w/esc/Ünïcödé-日本", "-home-me-w-esc--n-c-d----"),
            ("/w/my_app v2~+@#", "-w-my-app-v2----"),
            ("/w/😀", "-w---"),
            ("/", "-"),
        ] {
            assert_eq!(folder_name(Path::new(workspace)), name, "{workspace}");
        }
    }

    #[test]
    fn t11_a_long_name_is_cut_and_numbered() {
        let fits = format!("/{}", "a".repeat(199));
        assert_eq!(folder_name(Path::new(&fits)), format!("-{}", "a".repeat(199)));
        let long = format!("/{}", "ä/".repeat(150));
        assert_eq!(folder_name(Path::new(&long)), format!("{}-aobw4h", "-".repeat(200)));
    }

    #[test]
    fn the_hash_is_javas_without_its_sign() {
        assert_eq!([hash(""), hash("a"), hash("hello world")], [0, 97, 1_794_106_052]);
        assert_eq!(hash("polygenelubricants"), 1 << 31, "the one number without a positive twin");
        assert_eq!(
            [base36(0), base36(35), base36(36), base36(1 << 31)],
            ["0", "z", "10", "zik0zk"]
        );
    }
}
