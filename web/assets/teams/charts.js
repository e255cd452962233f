// Charts as inline SVG, drawn by script. Colours come from the style sheet.

/** @param {string} tag @param {Record<string, string | number>} [fields] @param {(Node | string)[]} children */
function s(tag, fields = {}, ...children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(fields)) element.setAttribute(name, String(value));
	element.append(...children);
	return element;
}

/** @param {number} width @param {number} height @param {string} label @param {Node[]} children */
const chart = (width, height, label, ...children) => s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart" }, ...children);

/** @param {number} x @param {number} y @param {string} text @param {string} [anchor] */
const words = (x, y, text, anchor = "start") => s("text", { x, y, "text-anchor": anchor }, text);

const cut = (text = "", most = 14) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Who asks whom. @param {{ askers: string[], answerers: string[], rows: number[][], most: number }} data */
export function matrixChart({ askers, answerers, rows, most }) {
	const [left, top, cell] = [104, 26, 44];
	const parts = answerers.map((name, x) => words(left + x * cell + cell / 2, 16, cut(name, 7), "middle"));
	rows.forEach((row, y) => {
		parts.push(words(left - 8, top + y * cell * 0.7 + cell * 0.42, cut(askers[y]), "end"));
		row.forEach((count, x) => {
			const [at, up] = [left + x * cell, top + y * cell * 0.7];
			const field = s("rect", { x: at + 1, y: up + 1, width: cell - 2, height: cell * 0.7 - 2, rx: 4, class: count ? "cell" : "cell none", "fill-opacity": count ? 0.18 + (0.82 * count) / most : 1 });
			field.append(s("title", {}, `${askers[y]} → ${answerers[x]}: ${count}`));
			parts.push(field);
			if (count) parts.push(s("text", { x: at + cell / 2, y: up + cell * 0.42, "text-anchor": "middle", class: count > most * 0.55 ? "on" : "" }, String(count)));
		});
	});
	return chart(left + answerers.length * cell, top + askers.length * cell * 0.7, "Questions by asker and answerer", ...parts);
}

/** What was said when. @param {{ start: number, prompts: number, failures: number, compactions: number }[]} bars @param {(start: number) => string} when */
export function timeChart(bars, when) {
	const [width, height, foot] = [640, 160, 18];
	const most = Math.max(1, ...bars.map(({ prompts, failures }) => Math.max(prompts, failures)));
	const step = width / Math.max(1, bars.length);
	const tall = (/** @type {number} */ count) => (count / most) * (height - foot - 14);
	const parts = [s("line", { x1: 0, x2: width, y1: height - foot, y2: height - foot, class: "axis" }), words(0, 10, String(most))];
	bars.forEach(({ start, prompts, failures, compactions }, at) => {
		const told = s("title", {}, `${when(start)}: ${prompts} asked, ${failures} failed, ${compactions} compacted`);
		const bar = (/** @type {number} */ count, /** @type {string} */ kind) => s("rect", { x: at * step + step * 0.15, y: height - foot - tall(count), width: step * 0.7, height: tall(count), rx: 2, class: kind });
		const group = s("g", {}, told, s("rect", { x: at * step, y: 0, width: step, height: height - foot, class: "hit" }), bar(prompts, "asked"), bar(failures, "failed"));
		if (compactions) group.append(s("circle", { cx: at * step + step / 2, cy: height - foot + 6, r: 3, class: "compacted" }));
		parts.push(group);
	});
	if (bars.length) parts.push(words(0, height - 4, when(bars[0].start)), words(width, height - 4, when(bars[bars.length - 1].start), "end"));
	return chart(width, height, "Questions over time", ...parts);
}

/** Amounts side by side. @param {[string, number][]} rows @param {string} label */
export function barChart(rows, label) {
	const [left, width, line] = [150, 420, 24];
	const most = Math.max(1, ...rows.map(([, count]) => count));
	const parts = rows.flatMap(([name, count], at) => [
		words(left - 8, at * line + 16, cut(name, 22), "end"),
		s("rect", { x: left, y: at * line + 4, width: Math.max(1, (count / most) * (width - left - 40)), height: line - 8, rx: 3, class: "asked" }, s("title", {}, `${name}: ${count}`)),
		words(left + Math.max(1, (count / most) * (width - left - 40)) + 6, at * line + 16, String(count)),
	]);
	return chart(width, Math.max(1, rows.length) * line, label, ...parts);
}
