//! Conversations as `claude` 2.1.325 had them, played against what we make of them.

mod answers;
mod humans;
mod properties;
mod scene;
mod turns;

use scene::play;
