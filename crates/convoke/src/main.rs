//! The `convoke` program; everything is in the library, where fuzzers and generators reach it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    convoke::main()
}
