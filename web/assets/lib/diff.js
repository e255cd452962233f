// The differences between two texts, line by line, and as rows for display.

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** Beyond this many differences the middle is shown as replaced: an exact diff would take too long. */
const EDITS_MAX = 1500;
/** Two lines of more words than this are not compared word by word. */
const WORDS_MAX = 600;

/** The lines of a text; a last line break begins no line. */
const linesOf = (text = "") => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** @type {DiffModule} */
export const diff = {
	lines(before, after) {
		const a = linesOf(before ?? "");
		const b = linesOf(after);
		let head = 0;
		while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
		let tail = 0;
		while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
		const middle = edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
		let [x, y] = [0, 0];
		return [...Array(head).fill("same"), ...grouped(middle), ...Array(tail).fill("same")].map((kind) => {
			const line = { kind, text: kind === "added" ? b[y] : a[x], before: x + 1, after: y + 1 };
			if (kind !== "added") x += 1;
			if (kind !== "removed") y += 1;
			return line;
		});
	},
	hunks(lines) {
		const found = /** @type {DiffLine[][]} */ ([]);
		let end = -1;
		lines.forEach(({ kind }, at) => {
			if (kind === "same") return;
			const from = Math.max(at - CONTEXT, 0);
			const to = Math.min(at + CONTEXT + 1, lines.length);
			if (from > end) found.push(lines.slice(from, to));
			else found.at(-1)?.push(...lines.slice(end, to));
			end = to;
		});
		return found;
	},
	pairs(lines) {
		const rows = /** @type {DiffPair[]} */ ([]);
		let free = 0;
		for (const line of lines) {
			// An added line goes to the first row of the change with an empty right side.
			if (line.kind === "added" && rows[free]) rows[free].after = line;
			else rows.push(line.kind === "added" ? { after: line } : line.kind === "removed" ? { before: line } : { before: line, after: line });
			free = line.kind === "added" ? free + 1 : line.kind === "same" ? rows.length : free;
		}
		return rows;
	},
	changedParts(before, after) {
		const [a, b] = [before, after].map((text) => text.match(/\w+|\s+|[^\w\s]/gu) ?? []);
		if (a.length + b.length > WORDS_MAX) return null;
		const steps = edits(a, b);
		const parts = { before: spans(a, steps, "removed"), after: spans(b, steps, "added") };
		// Lines that have little in common are easier to read without marks.
		const changed = (/** @type {Span[]} */ all) => all.reduce((sum, [from, to]) => sum + to - from, 0);
		const common = Math.max(before.length - changed(parts.before), after.length - changed(parts.after)) - (/^\s*/.exec(after)?.[0].length ?? 0);
		return common * 3 < Math.max(before.trim().length, after.trim().length) ? null : parts;
	},
	count(lines) {
		const of = (/** @type {DiffKind} */ kind) => lines.filter((line) => line.kind === kind).length;
		return { added: of("added"), removed: of("removed") };
	},
};

/** The ranges of words of one kind of step; those with only a space between them are merged. @param {string[]} words @param {DiffKind[]} steps @param {DiffKind} kind */
function spans(words, steps, kind) {
	const found = /** @type {Span[]} */ ([]);
	let [at, from, gap] = [0, 0, "x"];
	for (const step of steps) {
		if (step !== kind && step !== "same") continue;
		const to = from + words[at].length;
		const last = found.at(-1);
		if (step === "same") gap += words[at];
		else if (last && gap.trim() === "") last[1] = to;
		else found.push([from, to]);
		if (step === kind) gap = "";
		[at, from] = [at + 1, to];
	}
	return found;
}

/** In every change, removed lines before added ones. @param {DiffKind[]} steps */
function grouped(steps) {
	const done = /** @type {DiffKind[]} */ ([]);
	let added = 0;
	for (const step of steps) {
		if (step === "same") for (; added > 0; added -= 1) done.push("added");
		if (step === "added") added += 1;
		else done.push(step);
	}
	return [...done, ...Array(added).fill("added")];
}

/** The shortest edit script: Myers' greedy search, with its trace for walking back. @param {string[]} a @param {string[]} b @returns {DiffKind[]} */
function edits(a, b) {
	const max = Math.min(a.length + b.length, EDITS_MAX);
	const middle = max + 1;
	const reach = new Int32Array(2 * max + 3);
	const trace = [];
	for (let d = 0; d <= max; d += 1) {
		// Only this part of the front can have changed since the last step.
		trace.push(reach.slice(middle - d - 1, middle + d + 2));
		for (let k = -d; k <= d; k += 2) {
			let x = goesDown(reach, middle + k, k, d) ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
			reach[middle + k] = x;
			if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length);
		}
	}
	return [...Array(a.length).fill("removed"), ...Array(b.length).fill("added")];
}

/** @param {Int32Array} front */
const goesDown = (front, at = 0, k = 0, d = 0) => k === -d || (k !== d && front[at - 1] < front[at + 1]);

/** @param {Int32Array[]} trace */
function walkBack(trace, x = 0, y = 0) {
	const steps = /** @type {DiffKind[]} */ ([]);
	for (let d = trace.length - 1; d > 0; d -= 1) {
		const k = x - y;
		const down = goesDown(trace[d], d + 1 + k, k, d);
		const from = down ? k + 1 : k - 1;
		const fromX = trace[d][d + 1 + from];
		for (; x > fromX && y > fromX - from; x -= 1, y -= 1) steps.push("same");
		steps.push(down ? "added" : "removed");
		[x, y] = [fromX, fromX - from];
	}
	return [...steps, .../** @type {DiffKind[]} */ (Array(x).fill("same"))].reverse();
}
