//! Finds the items that the checks speak of: test functions, test modules and type names.

use super::lexer::{Kind, Token, lex};

/// A function that a test runner runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFunction {
    /// The function's name.
    pub name: String,
    /// The inline modules around it, outermost first.
    pub modules: Vec<String>,
    /// The line of its name.
    pub line: usize,
    /// The comments above it, and the one that opens its body.
    pub comments: Vec<String>,
}

/// A module that exists for tests only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestModule {
    /// The module's name.
    pub name: String,
    /// The line of its first attribute.
    pub line: usize,
    /// The line of its closing brace; `None` when the module is a separate file.
    pub end_line: Option<usize>,
    /// Whether nothing but comments follows it.
    pub closes_file: bool,
}

impl TestModule {
    /// Whether a line of its file is inside.
    pub fn contains(&self, line: usize) -> bool {
        self.end_line.is_some_and(|end| (self.line..=end).contains(&line))
    }
}

/// A type that is defined here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    /// The type's name.
    pub name: String,
    /// Its line.
    pub line: usize,
}

/// The items of one file.
#[derive(Debug, Default)]
pub struct Items {
    /// Test functions, in order.
    pub tests: Vec<TestFunction>,
    /// Test modules, in the order in which they end.
    pub test_modules: Vec<TestModule>,
    /// Type definitions, in order; the names that an `impl` gives to a trait's types are left out.
    pub types: Vec<TypeName>,
}

impl Items {
    /// Looks through a source file.
    pub fn of(source: &str) -> Self {
        let tokens: Vec<Token<'_>> = lex(source).collect();
        let mut scan = Scan { rest: &tokens, ..Scan::default() };
        while let Some(token) = scan.next() {
            scan.meet(token);
        }
        scan.found
    }
}

/// A pair of braces that is open.
enum Scope {
    Module { name: String, test_only_since: Option<usize> },
    Other,
}

#[derive(Default)]
struct Scan<'t, 'a> {
    rest: &'t [Token<'a>],
    found: Items,
    scopes: Vec<Scope>,
    /// The attributes since the last item or statement, each as its tokens, with the line of the first one.
    attributes: Vec<Vec<&'a str>>,
    attributes_line: Option<usize>,
    comments: Vec<String>,
}

impl<'a> Scan<'_, 'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.rest.first().copied()
    }

    fn meet(&mut self, token: Token<'a>) {
        match (token.kind, token.text) {
            // The module's own documentation belongs to no item.
            (Kind::Comment, text) if text.starts_with("//!") => {}
            (Kind::Comment, text) => self.comments.push(text.to_owned()),
            (Kind::Mark, "#") => self.attribute(token.line),
            (Kind::Mark, "{") => self.open(Scope::Other),
            (Kind::Mark, "}") => self.close(token.line),
            (Kind::Mark, ";") => self.forget(),
            (Kind::Word, "mod") => self.module(token.line),
            (Kind::Word, "fn") => self.function(),
            (Kind::Word, "struct" | "enum" | "union" | "trait") => self.define(),
            (Kind::Word, "type") if self.scopes.iter().all(is_module) => self.define(),
            (Kind::Word | Kind::Mark | Kind::Literal, _) => {}
        }
    }

    fn attribute(&mut self, line: usize) {
        let inner = self.peek().is_some_and(|token| token.text == "!");
        if inner {
            self.next();
        }
        if self.peek().is_none_or(|token| token.text != "[") {
            return;
        }
        let (mut depth, mut texts) = (0_usize, Vec::new());
        while let Some(token) = self.next() {
            match (token.kind, token.text) {
                (Kind::Mark, "[") => depth += 1,
                (Kind::Mark, "]") => depth -= 1,
                (Kind::Word | Kind::Mark | Kind::Literal | Kind::Comment, _) => {}
            }
            if depth == 0 {
                break;
            }
            texts.push(token.text);
        }
        if !inner {
            // The opening bracket is among the tokens.
            texts.remove(0);
            self.attributes.push(texts);
            self.attributes_line.get_or_insert(line);
        }
    }

    fn module(&mut self, line: usize) {
        let Some(name) = self.word() else { return };
        let test_only = self.attributes.iter().any(|attribute| is_cfg_test(attribute));
        let line = self.attributes_line.unwrap_or(line);
        if self.peek().is_some_and(|token| token.text == "{") {
            self.next();
            self.open(Scope::Module { name, test_only_since: test_only.then_some(line) });
        } else if test_only {
            let module = TestModule { name, line, end_line: None, closes_file: false };
            self.found.test_modules.push(module);
        }
    }

    fn function(&mut self) {
        let line = self.peek().map_or(0, |token| token.line);
        let Some(name) = self.word() else { return };
        if self.attributes.iter().any(|attribute| is_test(attribute)) {
            let mut comments = std::mem::take(&mut self.comments);
            comments.extend(self.opening_comment());
            let modules = self.scopes.iter().filter_map(module_name).map(str::to_owned).collect();
            self.found.tests.push(TestFunction { name, modules, line, comments });
        }
        self.forget();
    }

    /// The comment that comes first in the body that follows.
    fn opening_comment(&self) -> Option<String> {
        let brace = self.rest.iter().position(|token| token.text == "{")?;
        let first = self.rest.get(brace + 1)?;
        (first.kind == Kind::Comment).then(|| first.text.to_owned())
    }

    fn define(&mut self) {
        let line = self.peek().map_or(0, |token| token.line);
        if let Some(name) = self.word() {
            self.found.types.push(TypeName { name, line });
            self.forget();
        }
    }

    /// Takes the next token if it is a word.
    fn word(&mut self) -> Option<String> {
        let token = self.peek().filter(|token| token.kind == Kind::Word)?;
        self.next();
        Some(token.text.to_owned())
    }

    fn open(&mut self, scope: Scope) {
        self.scopes.push(scope);
        self.forget();
    }

    fn close(&mut self, line: usize) {
        if let Some(Scope::Module { name, test_only_since: Some(since) }) = self.scopes.pop() {
            let closes_file = self.rest.iter().all(|token| token.kind == Kind::Comment);
            let module = TestModule { name, line: since, end_line: Some(line), closes_file };
            self.found.test_modules.push(module);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.attributes.clear();
        self.attributes_line = None;
        self.comments.clear();
    }
}

fn is_module(scope: &Scope) -> bool {
    module_name(scope).is_some()
}

fn module_name(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::Module { name, .. } => Some(name),
        Scope::Other => None,
    }
}

/// `cfg(test)` and `cfg(all(test, …))`, but not `cfg(not(test))`.
fn is_cfg_test(attribute: &[&str]) -> bool {
    attribute.first() == Some(&"cfg") && attribute.contains(&"test") && !attribute.contains(&"not")
}

/// `test`, and a path that ends in it such as `tokio::test(…)`.
fn is_test(attribute: &[&str]) -> bool {
    let path = attribute.split(|text| *text == "(").next().unwrap_or_default();
    path.last() == Some(&"test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_known_by_its_attribute_and_placed_in_its_modules() {
        let items = Items::of(
            r#"//! Of all of it.
fn plain() {}
#[cfg(test)]
mod tests {
    //! Of the module.
    // above
    #[tokio::test(flavor = "multi_thread")]
    async fn first() { /* inside */ }
    proptest! {
        #[test]
        fn second(x in 0..9) { assert!(x < 9) }
    }
    fn not_a_test() { "fn third() {}" ; }
}
"#,
        );
        let found: Vec<_> = items.tests.iter().map(|test| (&*test.name, test.line)).collect();
        assert_eq!(found, [("first", 8), ("second", 11)]);
        assert_eq!(items.tests[0].comments, ["// above", "/* inside */"]);
        assert!(items.tests[1].comments.is_empty());
        assert!(items.tests.iter().all(|test| test.modules == ["tests"]));
    }

    #[test]
    fn a_test_module_has_a_beginning_and_an_end() {
        let items = Items::of(
            "#[cfg(test)]\nmod a {\n}\n#[cfg(test)]\nmod b;\nmod c {}\n#[cfg(test)] mod d {\n}\n",
        );
        let found: Vec<_> = items
            .test_modules
            .iter()
            .map(|module| (&*module.name, module.line, module.end_line, module.closes_file))
            .collect();
        let expected = [("a", 1, Some(3), false), ("b", 4, None, false), ("d", 7, Some(8), true)];
        assert_eq!(found, expected);
    }

    #[test]
    fn types_are_found_except_those_a_trait_names() {
        let items = Items::of(
            "pub struct A; enum B {} type C = u8; mod m { trait D {} type E = u8; }\nimpl X for A { type F = u8; }",
        );
        let names: Vec<_> = items.types.iter().map(|item| &*item.name).collect();
        assert_eq!(names, ["A", "B", "C", "D", "E"]);
    }
}
