// Charts made of plain elements, coloured by the style sheet.

import { h } from "../ui/dom.js";

/** Sets the size of an element as a part of the maximum. @param {HTMLElement} element */
function sized(element, count = 0, most = 1) {
	element.style.setProperty("--part", String(count / Math.max(1, most)));
	return element;
}

/** @type {Charts} */
export const charts = {
	matrix: (askers, { answerers, rows, most }) => h("div.scroll", { tabIndex: 0, role: "region", label: "Questions by asker and answerer" }, h("table.matrix",
		h("thead", h("tr", h("td"), ...answerers.map((name) => h("th", { scope: "col", title: name }, name)))),
		h("tbody", ...rows.map((row, y) => h("tr", h("th", { scope: "row", title: askers[y] }, askers[y]), ...row.map((count, x) =>
			sized(h(`td${count ? ".some" : ""}`, { title: `${askers[y]} → ${answerers[x]}: ${count}` }, count ? String(count) : ""), count, most))))))),
	time(bars, when) {
		const most = Math.max(1, ...bars.map(({ prompts, failures }) => Math.max(prompts, failures)));
		const columns = bars.map(({ start, prompts, failures, compactions }) => h("div", { title: `${when(start)}: ${prompts} asked, ${failures} failed, ${compactions} compacted` },
			sized(h("i.asked"), prompts, most), sized(h("i.failed"), failures, most), compactions > 0 && h("i.compacted")));
		return h("div.time", { role: "img", label: `Questions over time, at most ${most} at once` }, h("span", String(most)), h("div.columns", ...columns),
			h("div.ends", h("span", when(bars[0].start)), h("span", when(bars[bars.length - 1].start))));
	},
	bars(rows, label) {
		const most = Math.max(...rows.map(([, count]) => count));
		return h("ul.bars", { label }, ...rows.map(([name, count]) => h("li", h("span", { title: name }, name), sized(h("i.asked"), count, most), h("b", String(count)))));
	},
};
