//! The whole program with real agents, which talk only to a model server of the tests.
//!
//! `./test --real-agents` installs them and says where they are; nothing else builds or runs this.

#[cfg(test)]
#[expect(dead_code, reason = "the other tests use the rest of it")]
#[path = "../it/convoke.rs"]
mod convoke;
#[cfg(test)]
mod matrix;
#[cfg(test)]
#[expect(dead_code, reason = "the other tests use the rest of it")]
#[path = "../it/serve_scene.rs"]
mod serve_scene;
#[cfg(test)]
mod teams;
