//! The grammars, and which of them a language is written in.

use syntect::parsing::{ParseState, SyntaxSet};

use super::class::Classes;
use crate::markdown::language;

/// Grammars that take seconds for a single line made to hurt them, measured; they are rare.
const REFUSED: [&str; 2] = ["SystemVerilog", "Typst"];

/// What is needed to paint.
pub(super) struct Syntaxes {
    pub(super) set: SyntaxSet,
    pub(super) classes: Option<Classes>,
}

impl Syntaxes {
    /// Reads the grammars that are built into the program; each one is unpacked when it is used.
    pub(super) fn load() -> Self {
        Self { set: two_face::syntax::extra_newlines(), classes: Classes::new().ok() }
    }

    /// The beginning of a text in a language, when there is a grammar for it.
    pub(super) fn start(&self, name: &str) -> Option<ParseState> {
        let syntax = self.set.find_syntax_by_token(&language::canonical(name))?;
        let is_refused = REFUSED.contains(&syntax.name.as_str()) || syntax.name == "Plain Text";
        (!is_refused).then(|| ParseState::new(syntax))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_languages_of_every_day_have_grammars() {
        let names = "rust rs python py python3 javascript js jsx typescript ts tsx json jsonc bash \
             sh shell zsh console go golang java kotlin swift c cpp c++ C# csharp \
             ruby php html css scss sql yaml yml toml xml diff dockerfile makefile lua \
             haskell elixir perl r zig graphql protobuf terraform nix ini markdown md vue svelte";
        let syntaxes = Syntaxes::load();
        let missing: Vec<&str> =
            names.split_whitespace().filter(|name| syntaxes.start(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in ["klingon", "text", "txt", "systemverilog", ""] {
            assert!(syntaxes.start(name).is_none(), "{name}");
        }
    }
}
