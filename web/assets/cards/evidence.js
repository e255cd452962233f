// The evidence of a permission: the command, the changes, the address or the arguments, never the title.

import { bytes, plural, visible, visibleName } from "../lib/words.js";
import { commandView, diffView, jsonView, pathView } from "../ui/code-view.js";
import { h, icon } from "../ui/dom.js";

/** The mark in place of what the daemon has cut out of a long text. */
const LEFT_OUT = /\n\[… \d+ bytes left out by Convoke …\]\n/;
/** ACP's kind for tools without a kind; not the name of a tool. */
const NO_KIND = "other";

/** What is asked for, in a line. @param {Api.Evidence} evidence */
export function askOf(evidence) {
	switch (evidence.kind) {
		case "command": return "Permission required to run a command";
		case "changes": return `Permission required to change ${evidence.diffs.length > 1 ? plural(evidence.diffs.length, "file") : "a file"}`;
		case "read": return `Permission required to read ${evidence.paths.length > 1 ? plural(evidence.paths.length, "file") : "a file"}`;
		case "fetch": return "Permission required to fetch an address";
		case "tool": return "Permission required to use a tool";
		default: return "Permission required";
	}
}

/** What a title says that the evidence does not show. @param {Api.Evidence} evidence */
export function wordsBeyond(evidence, title = "") {
	const texts = textOf(evidence).map((text) => text.replaceAll("`", "").trim());
	const isCut = "omittedBytes" in evidence && Boolean(evidence.omittedBytes);
	// Long titles are cut at their end by agents, and in the middle by the daemon.
	const isShown = (words = "") => {
		const [head, tail = ""] = words.replace(/…$/, "").split(LEFT_OUT);
		return texts.some((text) => text === words || (text.startsWith(head) && (isCut || text.endsWith(tail))));
	};
	const said = title.replaceAll("`", "").trim();
	if (said === "" || isShown(said)) return "";
	// The daemon appends the command to a title that describes it.
	const end = [...said.matchAll(/: (?=\S)/g)].find(({ index }) => isShown(said.slice(index + 2)))?.index;
	return end === undefined ? title : said.slice(0, end);
}

/** @param {Api.Evidence} evidence @returns {string[]} */
function textOf(evidence) {
	switch (evidence.kind) {
		case "command": return [evidence.command];
		case "fetch": return [evidence.url, `Fetch ${evidence.url}`];
		case "read": return evidence.paths.map((path) => `Read ${path}`);
		// Titles name the file that the head of its diff names too, from some folder on.
		case "changes": return evidence.diffs.flatMap(({ path }) => ["Edit", "Write", "Update", "Create"].flatMap((verb) => path.split("/").map((_, at, parts) => `${verb} ${parts.slice(at).join("/")}`)));
		default: return [];
	}
}

/** @param {Api.Evidence} evidence @param {Place} place */
export function evidenceView(evidence, place) {
	const omitted = "omittedBytes" in evidence ? evidence.omittedBytes : 0;
	return h("div.evidence", ...partsOf(evidence, place), omitted ? h("p.omitted", icon("warning"), `${bytes(omitted)} more are not shown. This request is too long to make a rule from it.`) : null);
}

/** @param {Api.Evidence} evidence @param {Place} place @returns {Child[]} */
function partsOf(evidence, place) {
	switch (evidence.kind) {
		case "command": {
			const folder = evidence.workingDirectory;
			return [commandView(evidence.command), folder && folder !== place.root ? h("p.where", "in ", pathView(folder, { root: place.root })) : null];
		}
		case "changes":
			return evidence.diffs.map((change) => diffView(change, place));
		case "read":
			return [h("ul.paths", ...evidence.paths.map((path) => h("li", icon("file"), pathView(path, place))))];
		case "fetch":
			return [addressView(evidence.url)];
		case "tool":
			return [evidence.tool !== NO_KIND && h("p.where", h("code", visibleName(evidence.tool)), evidence.server ? ` of ${visibleName(evidence.server)}` : ""), jsonView(evidence.args)];
		default:
			// A newer server may send evidence of a kind that this page does not know.
			return [jsonView(evidence)];
	}
}

/** An address as text, its host in bold: where a request goes matters most. */
function addressView(url = "") {
	const [, scheme = "", host = "", rest = url] = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*)([\s\S]*)$/i.exec(url) ?? [];
	return h("pre.command.address", { tabIndex: 0, role: "group", label: "Address" }, scheme, h("b", visible(host)), rest);
}
