//! The languages that have colours, by the names that people and agents give them.
//!
//! A language needs a row in `LEXERS`, and a grammar where none of the others fits.

use super::Class;
use super::grammar::{Capitals, Grammar, Quote, Ticks};

/// How a language is read.
#[derive(Clone, Copy)]
pub(super) enum Lexer {
    Code(&'static Grammar),
    Markup,
    Diff,
    Markdown,
}

impl Lexer {
    /// How the language of this name is read.
    pub(super) fn of(language: &str) -> Option<Self> {
        let name = language.to_lowercase();
        let row = LEXERS.iter().find(|(names, _)| names.split(' ').any(|known| known == name));
        row.map(|(_, lexer)| *lexer)
    }
}

const LEXERS: [(&str, Lexer); 25] = [
    ("rust rs", Lexer::Code(&RUST)),
    (
        "javascript js jsx mjs cjs javascriptreact node nodejs typescript ts tsx mts cts typescriptreact",
        Lexer::Code(&JAVASCRIPT),
    ),
    ("json jsonc json5 jsonl ndjson", Lexer::Code(&JSON)),
    ("python py python3 py3 ipython starlark", Lexer::Code(&PYTHON)),
    ("go golang", Lexer::Code(&GO)),
    ("java groovy gradle scala", Lexer::Code(&JAVA)),
    ("kotlin kt kts swift", Lexer::Code(&KOTLIN)),
    ("c h cpp c++ cc cxx hpp objc objectivec objective-c cuda glsl hlsl", Lexer::Code(&C)),
    ("csharp cs c#", Lexer::Code(&CSHARP)),
    ("php", Lexer::Code(&PHP)),
    ("ruby rb", Lexer::Code(&RUBY)),
    ("lua", Lexer::Code(&LUA)),
    ("sh bash shell zsh fish console sh-session shell-session shellscript", Lexer::Code(&SHELL)),
    ("dockerfile docker containerfile", Lexer::Code(&DOCKERFILE)),
    ("makefile make mk", Lexer::Code(&MAKEFILE)),
    ("toml", Lexer::Code(&TOML)),
    ("ini conf cfg properties systemd env dotenv", Lexer::Code(&INI)),
    ("yaml yml", Lexer::Code(&YAML)),
    ("sql mysql postgres postgresql pgsql sqlite", Lexer::Code(&SQL)),
    ("css", Lexer::Code(&CSS)),
    ("scss sass less", Lexer::Code(&SCSS)),
    ("graphql gql proto protobuf terraform tf hcl zig", Lexer::Code(&BRACES)),
    ("html xml svg vue svelte htm xhtml plist ejs handlebars hbs", Lexer::Markup),
    ("diff patch udiff", Lexer::Diff),
    ("markdown md mdx", Lexer::Markdown),
];

const SLASHES: Quote = Quote::comment("/*", "*/");
const DOUBLE: Quote = Quote::string("\"");
const SINGLE: Quote = Quote::string("'");

static RUST: Grammar = Grammar {
    comments: &["//"],
    quotes: &[
        SLASHES,
        Quote::raw("r##\"", "\"##"),
        Quote::raw("r#\"", "\"#"),
        Quote::raw("br#\"", "\"#"),
        Quote::raw("r\"", "\""),
        Quote::raw("br\"", "\""),
        Quote::text("\""),
        Quote::marked("#[", "]", Class::Attribute),
        Quote::marked("#![", "]", Class::Attribute),
    ],
    keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match \
        mod move mut pub ref return static struct super trait type union unsafe use where while yield",
    constants: "true false self Self None Some Ok Err",
    types: "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
    capitals: Capitals::Speak,
    ticks: Ticks::Lifetimes,
    ..Grammar::BLANK
};

pub(super) static JAVASCRIPT: Grammar = Grammar {
    comments: &["//"],
    quotes: &[SLASHES, DOUBLE, SINGLE, Quote::text("`")],
    keywords: "abstract as async await break case catch class const continue debugger declare default delete do \
        else enum export extends finally for from function get if implements import in infer instanceof interface is \
        keyof let namespace new of override private protected public readonly return satisfies set static super \
        switch throw try type typeof var void while with yield",
    constants: "true false null undefined NaN Infinity this arguments",
    types: "any bigint boolean never number object string symbol unknown",
    letters: "$",
    sigils: &[('@', Class::Attribute)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static JSON: Grammar = Grammar {
    comments: &["//"],
    quotes: &[SLASHES, DOUBLE, SINGLE],
    constants: "true false null",
    after_key: Some(':'),
    ..Grammar::BLANK
};

static PYTHON: Grammar = Grammar {
    comments: &["#"],
    quotes: &[Quote::text("\"\"\""), Quote::text("'''"), DOUBLE, SINGLE],
    keywords: "and as assert async await break case class continue def del elif else except finally for from \
        global if import in is lambda match nonlocal not or pass raise return try while with yield",
    constants: "True False None self cls NotImplemented Ellipsis",
    types: "bool bytes dict float frozenset int list object set str tuple",
    sigils: &[('@', Class::Attribute)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static GO: Grammar = Grammar {
    comments: &["//"],
    quotes: &[SLASHES, DOUBLE, SINGLE, Quote::raw("`", "`")],
    keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface \
        map package range return select struct switch type var",
    constants: "true false nil iota",
    types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune \
        string uint uint8 uint16 uint32 uint64 uintptr",
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static JAVA: Grammar = Grammar {
    comments: &["//"],
    quotes: &[SLASHES, Quote::text("\"\"\""), DOUBLE, SINGLE],
    keywords: "abstract assert break case catch class const continue def default do else enum extends final finally \
        for goto if implements import instanceof interface match native new object override package permits private \
        protected public record return sealed static strictfp switch synchronized throw throws trait transient try \
        val var volatile while with yield",
    constants: "true false null this super",
    types: "boolean byte char double float int long short void",
    sigils: &[('@', Class::Attribute)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static KOTLIN: Grammar = Grammar {
    keywords: "abstract as async await break by case catch class companion const constructor continue data default \
        defer do else enum extension final finally for fun func guard if import in init inline inout interface \
        internal is lateinit let mutating object open operator out override package private protocol protected public \
        return sealed static struct suspend switch throw throws try typealias val var when where while",
    constants: "true false null nil this self super it",
    types: "",
    ..JAVA
};

static C: Grammar = Grammar {
    keywords: "alignas alignof auto break case catch class concept const consteval constexpr constinit const_cast \
        continue co_await co_return co_yield decltype default delete do dynamic_cast else enum explicit export extern \
        final for friend goto if inline mutable namespace new noexcept operator override private protected public \
        register reinterpret_cast requires return sizeof static static_assert static_cast struct switch template throw \
        try typedef typeid typename union using virtual volatile while",
    constants: "true false nullptr NULL this",
    types: "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed \
        size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t",
    quotes: &[SLASHES, DOUBLE, SINGLE],
    sigils: &[('#', Class::Keyword), ('@', Class::Keyword)],
    ..JAVA
};

static CSHARP: Grammar = Grammar {
    keywords: "abstract as async await base break case catch checked class const continue default delegate do else \
        enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock \
        namespace new operator out override params partial private protected public readonly record ref required \
        return sealed set sizeof stackalloc static struct switch throw try typeof unchecked unsafe using var virtual \
        volatile when where while with yield",
    constants: "true false null this value",
    types: "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong \
        ushort void",
    sigils: &[('#', Class::Keyword)],
    ..JAVA
};

static PHP: Grammar = Grammar {
    comments: &["//", "#"],
    quotes: &[SLASHES, Quote::text("\""), Quote::text("'")],
    keywords: "abstract and as break case catch class clone const continue declare default do echo else elseif enum \
        extends final finally fn for foreach function global goto if implements include include_once instanceof \
        insteadof interface match namespace new or print private protected public readonly require require_once \
        return static switch throw trait try unset use var while xor yield",
    constants: "true false null TRUE FALSE NULL self parent",
    types: "array bool callable float int iterable mixed never object string void",
    sigils: &[('$', Class::Constant)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static RUBY: Grammar = Grammar {
    comments: &["#"],
    quotes: &[Quote::text("\""), Quote::text("'"), Quote::text("`")],
    keywords: "alias and begin break case class def defined? do else elsif end ensure extend for if in include \
        module next not or private protected public raise redo require require_relative rescue retry return then \
        undef unless until when while yield",
    constants: "true false nil self super",
    letters: "?",
    sigils: &[('@', Class::Constant), ('$', Class::Constant)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};

static LUA: Grammar = Grammar {
    comments: &["--"],
    quotes: &[Quote::comment("--[[", "]]"), Quote::raw("[[", "]]"), DOUBLE, SINGLE],
    keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
    constants: "true false nil self",
    ..Grammar::BLANK
};

static SHELL: Grammar = Grammar {
    comments: &["#"],
    quotes: &[Quote::text("\""), Quote::raw("'", "'"), Quote::marked("${", "}", Class::Constant)],
    keywords: "alias break case continue do done elif else end esac eval exec exit export fi for function if in \
        local readonly return select set shift source then trap unset until while",
    constants: "true false",
    letters: "-",
    sigils: &[('$', Class::Constant)],
    ..Grammar::BLANK
};

static DOCKERFILE: Grammar = Grammar {
    keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL \
        STOPSIGNAL USER VOLUME WORKDIR",
    ..SHELL
};

static MAKEFILE: Grammar = Grammar {
    keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
    quotes: &[
        DOUBLE,
        SINGLE,
        Quote::marked("$(", ")", Class::Constant),
        Quote::marked("${", "}", Class::Constant),
    ],
    letters: "-.",
    after_key: Some(':'),
    ..SHELL
};

static TOML: Grammar = Grammar {
    comments: &["#"],
    quotes: &[
        Quote::section(),
        Quote::text("\"\"\""),
        Quote::raw("'''", "'''"),
        DOUBLE,
        Quote::marked("'", "'", Class::String),
    ],
    constants: "true false inf nan",
    letters: "-.",
    after_key: Some('='),
    ..Grammar::BLANK
};

static INI: Grammar = Grammar {
    comments: &["#", ";"],
    quotes: &[Quote::section(), DOUBLE, SINGLE],
    constants: "true false yes no on off",
    ..TOML
};

static YAML: Grammar = Grammar {
    comments: &["#"],
    quotes: &[DOUBLE, Quote::marked("'", "'", Class::String)],
    constants: "true false null yes no on off True False",
    letters: "-./",
    sigils: &[('&', Class::Constant), ('*', Class::Constant), ('!', Class::Type)],
    after_key: Some(':'),
    ..Grammar::BLANK
};

static SQL: Grammar = Grammar {
    comments: &["--"],
    quotes: &[SLASHES, Quote::raw("'", "'"), Quote::marked("\"", "\"", Class::Plain)],
    keywords: "add all alter and as asc begin between by cascade case check column commit conflict constraint create \
        cross database default delete desc distinct do drop else end except exists explain foreign from full function \
        grant group having if in index inner insert intersect into is join key left like limit natural not nothing on \
        or order outer over partition primary procedure recursive references returning revoke right rollback select \
        set table then to transaction trigger truncate union unique update using values view when where with",
    constants: "true false null current_date current_time current_timestamp",
    types: "bigint blob boolean bool bytea char date datetime decimal double float int integer json jsonb numeric \
        real serial smallint text time timestamp timestamptz uuid varchar",
    capitals: Capitals::Optional,
    ..Grammar::BLANK
};

pub(super) static CSS: Grammar = Grammar {
    quotes: &[SLASHES, DOUBLE, SINGLE],
    keywords: "important",
    constants: "auto inherit initial none unset revert currentColor transparent",
    letters: "-",
    sigils: &[
        ('@', Class::Keyword),
        ('#', Class::Number),
        ('.', Class::Type),
        ('$', Class::Constant),
    ],
    after_key: Some(':'),
    ..Grammar::BLANK
};

static SCSS: Grammar = Grammar { comments: &["//"], ..CSS };

/// What languages with braces have in common, for those that are rare.
static BRACES: Grammar = Grammar {
    comments: &["//", "#"],
    quotes: &[SLASHES, Quote::text("\"\"\""), DOUBLE],
    keywords: "break const continue data defer else enum extend fn for fragment if implements import input interface \
        message module mutation on oneof option output package provider pub query repeated resource return rpc scalar \
        schema service struct subscription switch syntax try type union var variable while",
    constants: "true false null undefined",
    types: "bool double float int32 int64 string uint32 uint64 i32 i64 u8 u32 u64 usize void",
    sigils: &[('@', Class::Attribute), ('$', Class::Constant)],
    capitals: Capitals::Speak,
    ..Grammar::BLANK
};
