// Patterns of rules as people write them.

/** How a pattern of each kind is written. @type {Record<string, { example: string, text: string }>} */
const HELP = {
	command: { example: "cargo test …", text: "The exact words of the command. “…” at the end stands for further words that begin with neither “-” nor “+” and have no “=”." },
	edit: { example: "src/**", text: "A glob for paths, relative to the project or absolute." },
	read: { example: "docs/**", text: "A glob for paths, relative to the project or absolute." },
	tool: { example: "server/tool", text: "The name of the tool, with its server before a slash." },
	fetch: { example: "docs.rs", text: "A domain, as in the address." },
};

export const patternHelp = (kind = "command") => HELP[kind];

/** The matcher that a pattern means; `null` for an empty one. @returns {any} */
export function matcherOf(kind = "", text = "") {
	const pattern = text.trim();
	if (!pattern) return null;
	if (kind === "command") {
		const words = pattern.split(/\s+/);
		const more = words.at(-1) === "…" || words.at(-1) === "...";
		return words.length > Number(more) ? { kind, words: more ? words.slice(0, -1) : words, more } : null;
	}
	if (kind === "tool") {
		const at = pattern.indexOf("/");
		return at > 0 ? { kind, server: pattern.slice(0, at), tool: pattern.slice(at + 1) } : { kind, tool: pattern };
	}
	return kind === "fetch" ? { kind, domain: pattern } : { kind, glob: pattern };
}
