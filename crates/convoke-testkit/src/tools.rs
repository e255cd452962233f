//! Where tests find programs: in the system's folders, and where `./test` unpacked those that the system lacks.

/// The system's folders of programs.
const SYSTEM: &str = "/usr/bin:/bin";

/// A search path for programs whose environment a test clears.
pub fn search_path() -> String {
    match unpacked() {
        None => SYSTEM.to_owned(),
        Some(folder) => format!("{SYSTEM}:{folder}"),
    }
}

/// The folder of unpacked programs, on machines that lack some.
#[expect(clippy::disallowed_methods, reason = "how `./test` passes it")]
pub fn unpacked() -> Option<String> {
    std::env::var("CONVOKE_TEST_TOOLS").ok()
}
