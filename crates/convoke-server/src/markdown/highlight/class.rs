//! From the scopes of the grammars to the few classes that the page's style sheet knows.

use syntect::parsing::{ParseScopeError, Scope};

/// Which scope is shown as what; of several that fit, the first counts.
const SCOPES: [(&str, &str); 53] = [
    ("comment", "hl-comment"),
    ("punctuation.definition.comment", "hl-comment"),
    ("markup.quote", "hl-comment"),
    ("constant.character.escape", "hl-constant"),
    ("string.regexp", "hl-constant"),
    ("string", "hl-string"),
    ("punctuation.definition.string", "hl-string"),
    ("markup.raw", "hl-string"),
    ("markup.underline.link", "hl-string"),
    ("constant.numeric", "hl-number"),
    ("constant", "hl-constant"),
    ("variable.language", "hl-constant"),
    ("support.constant", "hl-constant"),
    ("support.type.property-name", "hl-attribute"),
    ("keyword.operator.word", "hl-keyword"),
    ("keyword.operator.logical.python", "hl-keyword"),
    ("keyword.operator.new", "hl-keyword"),
    ("keyword.operator", "hl-operator"),
    ("keyword", "hl-keyword"),
    ("storage", "hl-keyword"),
    ("entity.name.function", "hl-function"),
    ("entity.name.macro", "hl-function"),
    ("support.function", "hl-function"),
    ("support.macro", "hl-function"),
    ("variable.function", "hl-function"),
    ("entity.name.tag", "hl-tag"),
    ("punctuation.definition.tag", "hl-tag"),
    ("entity.other.attribute-name", "hl-attribute"),
    ("variable.annotation", "hl-attribute"),
    ("punctuation.definition.annotation", "hl-attribute"),
    ("support.type.property", "hl-attribute"),
    ("meta.mapping.key.json", KEY),
    ("meta.structure.dictionary.key.json", KEY),
    ("entity.name.section", "hl-heading"),
    ("entity.name.label", "hl-constant"),
    ("entity.name.constant", "hl-constant"),
    ("entity.name", "hl-type"),
    ("entity.other.inherited-class", "hl-type"),
    ("support.type", "hl-type"),
    ("support.class", "hl-type"),
    ("support.module", "hl-type"),
    ("markup.inserted", "hl-inserted"),
    ("punctuation.definition.inserted", "hl-inserted"),
    ("markup.deleted", "hl-deleted"),
    ("punctuation.definition.deleted", "hl-deleted"),
    ("markup.heading", "hl-heading"),
    ("punctuation.definition.heading", "hl-heading"),
    ("meta.diff.header", "hl-heading"),
    ("meta.diff.range", "hl-heading"),
    ("meta.diff.index", "hl-heading"),
    ("variable", "hl-variable"),
    ("punctuation.section.interpolation", "hl-constant"),
    ("punctuation", "hl-punctuation"),
];

/// A key of a mapping is no value, though it is a string.
const KEY: &str = "hl-attribute";

/// The scopes above, as the grammars compare them.
pub(super) struct Classes(Vec<(Scope, &'static str)>);

impl Classes {
    pub(super) fn new() -> Result<Self, ParseScopeError> {
        let scopes = SCOPES.iter().map(|(scope, class)| Ok((Scope::new(scope)?, *class)));
        Ok(Self(scopes.collect::<Result<_, _>>()?))
    }

    /// How text of this scope is shown inside of text that is shown as `around`.
    pub(super) fn of(&self, scope: Scope, around: &'static str) -> &'static str {
        let known = self.0.iter().find(|(known, _)| known.is_prefix_of(scope));
        match known {
            Some((_, "hl-string")) if around == KEY => KEY,
            Some((_, class)) => class,
            None => around,
        }
    }
}
