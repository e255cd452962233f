//! Just enough of Rust's grammar to distinguish code from comments and strings, and to find tests, modules and types.
//!
//! Not a parser: macros are not expanded, and expressions are not understood.

mod items;
mod lexer;

pub use items::{Items, TestFunction, TestModule, TypeName};
pub use lexer::{Kind, Token, Tokens, lex};
