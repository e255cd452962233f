// The changes of a session as they are shown: words for files, a tree of folders, rows of a diff, places of comments.

import { diff } from "./diff.js";
import { bytes, visible } from "./words.js";

/** What happened to a file: the letter that git has for it, and a word. @type {Record<Api.FileStatus, [letter: string, word: string]>} */
export const STATUS = {
	added: ["A", "new"],
	deleted: ["D", "deleted"],
	modified: ["M", "changed"],
	type_changed: ["T", "another kind of file"],
	renamed: ["R", "renamed"],
	copied: ["C", "copied"],
};

/** @type {Record<Api.FileMode, string>} */
const MODES = { regular: "a file", executable: "executable", link: "a link", submodule: "a repository" };

/** What else happened to a file than a change of its lines. @param {Api.ChangedFile} file @returns {string[]} */
export function notesOf({ status, from, binary, oldMode, newMode }) {
	const isMoved = status === "renamed" || status === "copied";
	const mode = oldMode && newMode && oldMode !== newMode
		? oldMode === "executable" && newMode === "regular" ? "no longer executable" : `now ${MODES[newMode]}`
		: !oldMode && newMode && newMode !== "regular" ? MODES[newMode] : "";
	return [isMoved && from ? `${STATUS[status][1]} from ${from}` : "", mode, binary ? "binary" : ""].filter(Boolean);
}

/** @type {Record<Api.LeftOutReason, string>} */
const LEFT_OUT = { too_large: "too large", unreadable: "it cannot be read", name: "git reserves its name", worktree: "it is another work tree", hidden: "it is hidden from agents" };

/** Why a file is not in the checkpoints. @param {Api.LeftOutFile} file */
export const leftOutWhy = ({ reason, bytes: size }) => (size === undefined ? LEFT_OUT[reason] : `${LEFT_OUT[reason]}: ${bytes(size)}`);

/** Distinguishes two states of a changed file, as far as the list shows. @param {Api.ChangedFile} file */
export const fingerprint = ({ status, from = "", added = -1, removed = -1, newMode }) => [status, from, added, removed, newMode ?? ""].join(" ");

/**
 * The rows of a tree of files: folders with their contents, unless they are closed. A folder that contains nothing but
 * another folder is one row with it.
 * @param {Api.ChangedFile[]} files @param {Set<string>} closed @returns {TreeRow[]}
 */
export function treeOf(files, closed) {
	/** @typedef {{ folders: Map<string, Folder>, files: Api.ChangedFile[] }} Folder */
	/** @returns {Folder} */
	const empty = () => ({ folders: new Map(), files: [] });
	const root = empty();
	for (const file of files) {
		let at = root;
		for (const name of file.path.split("/").slice(0, -1)) {
			if (!at.folders.has(name)) at.folders.set(name, empty());
			at = /** @type {Folder} */ (at.folders.get(name));
		}
		at.files.push(file);
	}
	const rows = /** @type {TreeRow[]} */ ([]);
	/** @param {Folder} folder */
	const walk = (folder, path = "", depth = 0) => {
		for (let [name, inner] of folder.folders) {
			let whole = path + name;
			while (inner.files.length === 0 && inner.folders.size === 1) {
				const [[next, only]] = inner.folders;
				[name, whole, inner] = [`${name}/${next}`, `${whole}/${next}`, only];
			}
			rows.push({ depth, name, path: whole, isClosed: closed.has(whole) });
			if (!closed.has(whole)) walk(inner, `${whole}/`, depth + 1);
		}
		for (const file of folder.files) rows.push({ depth, name: file.path.slice(path.length), path: file.path, file });
	};
	walk(root);
	return rows;
}

/** Lines of one side that are lexed together: enough for a comment of many lines, and few enough for one frame. */
const SEGMENT = 200;

/**
 * The rows of a diff, in one column or two. Each hunk begins with a row of its own.
 * @param {Api.DiffHunk[]} hunks @returns {DiffRow[]}
 */
export function rowsOf(hunks, split = false) {
	return hunks.flatMap((hunk, at) => {
		const lines = hunk.lines.map(shownLine);
		const pairs = split ? diff.pairs(lines) : lines.map((line) => (line.kind === "removed" ? { before: line } : line.kind === "added" ? { after: line } : { before: line, after: line }));
		return [{ hunk: at, head: headOf(hunk) }, ...pairs.map((pair) => ({ hunk: at, ...pair }))];
	});
}

/** @param {Api.DiffLine} line @returns {ShownLine} */
const shownLine = ({ kind, old = 0, new: now = 0, text, marks, noNewline }) => ({ kind: kind === "context" ? "same" : kind, text, before: old, after: now, marks, noNewline });

/** Where a hunk is, in words. @param {Api.DiffHunk} hunk */
function headOf({ oldStart, oldLines, newStart, newLines, heading }) {
	const [start, count] = newLines ? [newStart, newLines] : [oldStart, oldLines];
	const where = count > 1 ? `Lines ${start}–${start + count - 1}` : `Line ${start}`;
	return heading ? `${where} · ${visible(heading.trim())}` : where;
}

/** Which side of a row a comment is on, where only one can be meant. @param {DiffRow} row @returns {DiffSide} */
export const sideOf = ({ after }) => (after ? "new" : "old");

/** The number of a row's line on a side. @param {DiffRow} row @param {DiffSide} side */
export const numberOf = ({ before, after }, side) => (side === "old" ? before?.before : after?.after) || 0;

/**
 * The lines of a diff between two numbers of a side, or nothing where they are not in one hunk.
 * @param {Api.DiffHunk[]} hunks @param {DiffSide} side
 */
export function quoteOf(hunks, side, from = 0, to = 0) {
	const key = side === "old" ? "old" : "new";
	const hunk = hunks.find(({ lines }) => lines.some((line) => line[key] === from));
	const lines = hunk?.lines.filter((line) => (line[key] ?? 0) >= from && (line[key] ?? 0) <= to) ?? [];
	return lines.length === to - from + 1 ? lines.map(({ text }) => text).join("\n") : undefined;
}

/**
 * The last line that a comment is about as the diff is now: where it was, or where its quotation is; undefined if that is gone.
 * @param {Api.DiffHunk[]} hunks @param {Pick<ReviewComment, "side" | "startLine" | "endLine" | "quote">} comment
 */
export function placeOf(hunks, { side, startLine, endLine, quote }) {
	if (quoteOf(hunks, side, startLine, endLine) === quote) return endLine;
	const key = side === "old" ? "old" : "new";
	const wanted = quote.split("\n");
	let found = 0;
	for (const { lines } of hunks) {
		const own = lines.filter((line) => line[key] !== undefined);
		own.forEach((_, at) => {
			const isIt = wanted.every((text, offset) => own[at + offset]?.text === text);
			const end = isIt ? /** @type {number} */ (own[at + wanted.length - 1][key]) : 0;
			if (end && (!found || Math.abs(end - endLine) < Math.abs(found - endLine))) found = end;
		});
	}
	return found || undefined;
}

/** Which lines, in words. @param {Pick<ReviewComment, "side" | "startLine" | "endLine">} comment */
export function linesText({ side, startLine, endLine }) {
	const where = startLine === endLine ? `line ${startLine}` : `lines ${startLine}–${endLine}`;
	return side === "old" ? `${where} before the change` : where;
}

/** Lines without the indentation that all of them have. @param {string[]} lines */
export function flush(lines) {
	const indents = lines.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)?.[0] ?? "");
	const common = indents.reduce((a, b) => {
		let at = 0;
		while (at < a.length && a[at] === b[at]) at += 1;
		return a.slice(0, at);
	}, indents[0] ?? "");
	return lines.map((line) => (line.trim() ? line.slice(common.length) : line));
}

/**
 * Finds the coloured spans of the lines of a diff, some hundred lines at a time.
 * @param {DiffRow[]} rows @param {(text: string) => Coloured[][]} colours
 * @returns {(line: ShownLine, isOld: boolean) => Coloured[] | undefined}
 */
export function colouring(rows, colours) {
	/** The lines of each side, and the segments that have been lexed. */
	const sides = [/** @type {ShownLine[]} */ ([]), /** @type {ShownLine[]} */ ([])];
	const places = [/** @type {Map<ShownLine, number>} */ (new Map()), /** @type {Map<ShownLine, number>} */ (new Map())];
	for (const { before, after } of rows) {
		for (const [side, line] of [before, after].entries()) {
			if (line) places[side].set(line, sides[side].push(line) - 1);
		}
	}
	const lexed = [/** @type {Map<number, Coloured[][]>} */ (new Map()), /** @type {Map<number, Coloured[][]>} */ (new Map())];
	return (line, isOld) => {
		const side = isOld ? 0 : 1;
		const at = places[side].get(line) ?? 0;
		const segment = Math.floor(at / SEGMENT);
		if (!lexed[side].has(segment)) lexed[side].set(segment, colours(sides[side].slice(segment * SEGMENT, (segment + 1) * SEGMENT).map(({ text }) => text).join("\n")));
		return lexed[side].get(segment)?.[at % SEGMENT];
	};
}

/** A short number for a text; two texts with the same one are the same in all likelihood. */
export function digest(text = "") {
	let sum = 5381;
	for (let at = 0; at < text.length; at += 1) sum = (sum * 33 + text.charCodeAt(at)) | 0;
	return (sum >>> 0).toString(36);
}
