// Paths of files, and links that open them in the user's editor.

/** Editors that register an address for files. */
const EDITORS = ["vscode", "zed", "cursor"];
/** The address of a place in an editor, with the path in it; a command is run by the daemon, see `placeOf`. */
const addressOf = (editor = "") => {
	if (EDITORS.includes(editor)) return `${editor}://file{path}:{line}:{column}`;
	if (editor === "command") return "open:{path}:{line}:{column}";
	return /^(?!javascript|data)[\w+-]+:/i.test(editor) && editor.includes("{path}") ? editor : "";
};
const filled = (address = "", path = "", line = "", column = "") =>
	address.replace("{path}", path).replace(/:\{line\}:\{column\}$/, [line, column].filter(Boolean).map((number) => `:${number}`).join("")).replace("{line}", line || "1").replace("{column}", column || "1");

/** A path with a name and an extension, and where in the file. */
const PATH = /^((?:\.{0,2}\/)?(?:[\w@.+-]+\/)*[\w@.+-]*\.[A-Za-z]\w{0,9}|(?:\.{0,2}\/)?(?:[\w@.+-]+\/)+[\w@.+-]+)(?::(\d{1,7})(?::(\d{1,5}))?)?$/;
/** Where such paths may stand in a text: only those with a line are certain enough. */
const IN_TEXT = /(?<![\w/:.@-])(?:\/|\.\/)?(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}:\d{1,7}(?::\d{1,5})?(?![\w/:])/g;

/** A path inside a folder, relative to it. */
export const shortPath = (path = "", root = "") => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);

/** The address at which an editor opens a path, or nothing: for an editor that has none, and for a text that is no path. */
export function editorLink(editor = "", root = "", text = "") {
	const address = addressOf(editor);
	const found = address && PATH.exec(text);
	if (!found) return "";
	const [, path, line, column] = found;
	// A bare word with a dot is a method more often than a file.
	if (!path.includes("/") && !line) return "";
	return filled(address, encoded(root, path), line, column);
}

/** The address of a file whose path is known. */
export const fileLink = (editor = "", root = "", path = "") => filled(addressOf(editor), encoded(root, path));

/** The place that a link names which the daemon opens with a command. */
export function placeOf(href = "") {
	const [, path, line, column] = /^open:(.+?)(?::(\d+))?(?::(\d+))?$/.exec(href) ?? [];
	return path && { path: decodeURIComponent(path), ...(line && { line: Number(line) }), ...(column && { column: Number(column) }) };
}

function encoded(root = "", path = "") {
	const whole = path.startsWith("/") ? path : `${root}/${path}`;
	const parts = /** @type {string[]} */ ([]);
	for (const part of whole.split("/")) {
		if (part === "..") parts.pop();
		else if (part && part !== ".") parts.push(encodeURIComponent(part));
	}
	return `/${parts.join("/")}`;
}

/** Where a text names places in files. @returns {Span[]} */
export const pathsIn = (text = "") => [...text.matchAll(IN_TEXT)].map(({ index, 0: found }) => [index, index + found.length]);
