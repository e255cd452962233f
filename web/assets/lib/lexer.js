// Colours for code in diffs and evidence: small lexers that know words but no grammar.
//
// Code in Markdown is coloured by the server. A diff is cut into lines and marked word by word here, so its colours are
// found here too. Where a lexer is mistaken, something has the wrong colour.

import { visible } from "./words.js";

/** Longest text that is coloured. */
const TEXT_MAX = 200_000;

const words = (list = "") => new Set(list.split(" "));
const BRACES = words("abstract as async await break case catch class const continue crate default defer delete do dyn else enum export extends extern final finally fn for from func function go if impl implements import in instanceof interface is let loop match mod move mut namespace new of override package private protected pub public readonly ref return select static struct super switch template this throw throws trait try type typedef typeof union unsafe use using val var virtual void when where while with yield");
const SCRIPT = words("and as assert async await begin break case class continue def del do done echo elif else elsif end ensure esac except exit export fi finally for from function global if import in is lambda local module next nonlocal not or pass raise require rescue return set source then try unless until while with yield");
const SQL = words("add alter and as asc begin by case check commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then trigger union unique update using values view when where with");
const CONSTANTS = words("true false null nil none undefined self some ok err nan yes no");

const DOUBLE = String.raw`"(?:\\[\s\S]|[^"\\\n])*"?`;
const SINGLE = String.raw`'(?:\\[\s\S]|[^'\\\n])*'?`;
const CHARACTER = String.raw`'(?:\\[^'\n]{1,10}|[^'\\\n])'`;
const TICKS = String.raw`\x60(?:\\[\s\S]|[^\x60\\])*\x60?`;
const BLOCK = String.raw`/\*[\s\S]*?(?:\*/|$)`;
const HASH = String.raw`(?<![\w$])#.*`;

/** One family of languages: a comment, a string, a number, a word. */
const family = (comment = "", string = "", keywords = BRACES, word = "[A-Za-z_$][\\w$]*") => ({ keywords, lexer: new RegExp(`(${comment})|(${string})|(\\b\\d[\\w.]*)|(${word})`, "g") });

/** The extensions of each family. @type {[string, ReturnType<typeof family>][]} */
const FAMILIES = [
	["rs", family(String.raw`//.*|${BLOCK}`, `${DOUBLE}|${CHARACTER}`)],
	["js mjs cjs jsx ts mts cts tsx go java kt kts swift c h cc cpp cxx hpp cs php scala dart groovy gradle zig proto graphql css scss less tf", family(String.raw`//.*|${BLOCK}`, `${DOUBLE}|${SINGLE}|${TICKS}`)],
	["json jsonc json5 jsonl", family(String.raw`//.*|${BLOCK}`, DOUBLE, new Set())],
	["sh bash zsh fish", family(HASH, `${DOUBLE}|${SINGLE}|${TICKS}`, SCRIPT, String.raw`-*[A-Za-z_][\w.-]*`)],
	["py pyi rb toml yaml yml ini conf cfg env pl r mk dockerfile makefile nix", family(HASH, String.raw`"""[\s\S]*?(?:"""|$)|${DOUBLE}|${SINGLE}|${TICKS}`, SCRIPT)],
	["sql lua hs elm", family(String.raw`--.*|${BLOCK}`, `${DOUBLE}|${SINGLE}`, SQL)],
	["html htm xml svg vue svelte", family(String.raw`<!--[\s\S]*?(?:-->|$)`, `${DOUBLE}|${SINGLE}`)],
];
const BY_EXTENSION = new Map(FAMILIES.flatMap(([names, found]) => names.split(" ").map((name) => [name, found])));

/** The class of a word. @param {Set<string>} keywords */
function classOf(word = "", next = "", keywords) {
	const known = keywords === SQL ? word.toLowerCase() : word;
	if (keywords.has(known)) return "hl-keyword";
	if (CONSTANTS.has(word.toLowerCase())) return "hl-constant";
	if (next === "(") return "hl-function";
	return /^[A-Z]\w*[a-z]/.test(word) ? "hl-type" : "";
}

/** The coloured spans of every line of a text, by the name of its file. @returns {Coloured[][]} */
export function colours(path = "", text = "") {
	const name = path.split("/").at(-1)?.toLowerCase() ?? "";
	const found = BY_EXTENSION.get(name.split(".").at(-1) ?? "");
	const lines = /** @type {Coloured[][]} */ ([[]]);
	if (!found || text.length > TEXT_MAX) return lines;
	let begin = 0;
	/** Spans end with their line. */
	const add = (from = 0, to = 0, name = "") => {
		for (let end; (end = text.indexOf("\n", from)) >= 0 && end < to; from = end + 1) {
			if (end > from) lines.at(-1)?.push([from - begin, end - begin, name]);
			lines.push([]);
			begin = end + 1;
		}
		if (to > from) lines.at(-1)?.push([from - begin, to - begin, name]);
	};
	let at = 0;
	for (const match of text.matchAll(found.lexer)) {
		const [whole, comment, string, number, word] = match;
		const end = match.index + whole.length;
		const name = comment ? "hl-comment" : string ? "hl-string" : number ? "hl-number" : word ? classOf(word, text[end], found.keywords) : "";
		if (!name) continue;
		skip(at, match.index);
		add(match.index, end, name);
		at = end;
	}
	skip(at, text.length);
	return lines;

	/** Counts the lines of text without a colour. */
	function skip(from = 0, to = 0) {
		for (let end = text.indexOf("\n", from); end >= 0 && end < to; end = text.indexOf("\n", end + 1)) {
			lines.push([]);
			begin = end + 1;
		}
	}
}

/**
 * A line in pieces, each with its colour and whether it is marked.
 * @param {Coloured[]} coloured @param {Span[]} marks @returns {Piece[]}
 */
export function pieces(text = "", coloured = [], marks = []) {
	const cuts = new Set([0, text.length]);
	for (const [from, to] of [...coloured, ...marks]) cuts.add(Math.min(from, text.length)).add(Math.min(to, text.length));
	const sorted = [...cuts].sort((a, b) => a - b);
	// Both are in order, so that a line of any length is read once.
	let [colour, mark] = [0, 0];
	return sorted.slice(0, -1).map((from, at) => {
		while (coloured[colour]?.[1] <= from) colour += 1;
		while (marks[mark]?.[1] <= from) mark += 1;
		return { text: visible(text.slice(from, sorted[at + 1])), name: coloured[colour]?.[0] <= from ? coloured[colour][2] : "", isMarked: marks[mark]?.[0] <= from };
	});
}
