// Opens the changes beside the conversation. What shows them is loaded when that is first done.

import { keep, kept } from "../lib/kept.js";
import { plural, totalsText } from "../lib/words.js";
import { counts } from "../ui/code-view.js";
import { fill, h, icon, on } from "../ui/dom.js";
import { toastError } from "../ui/parts.js";

/** The parts of the window that the panel may have. */
const [LEAST, USUAL, MOST] = [0.3, 0.52, 0.75];

/** @param {HTMLElement} main @param {Omit<ChangesOptions, "close">} options @returns {Beside} */
export function makeBeside(main, options) {
	const button = h("button.changes-button", { ariaExpanded: "false", onclick: () => beside.toggle() });
	const grip = h("div.changes-grip", { role: "separator", tabIndex: 0, ariaOrientation: "vertical", label: "Width of the changes", ariaValueMin: String(LEAST * 100), ariaValueMax: String(MOST * 100) });
	const narrow = matchMedia("(max-width: 939px)");
	let panel = /** @type {ChangesPanel | null} */ (null);
	let loading = /** @type {Promise<void> | null} */ (null);
	let isOpen = false;
	let shown = "";

	function paint() {
		button.ariaExpanded = String(isOpen);
		document.body.classList.toggle("with-changes", isOpen);
		if (panel) panel.hidden = !isOpen;
		// What the panel covers cannot be reached.
		main.inert = isOpen && panel !== null && (narrow.matches || document.body.classList.contains("changes-only"));
	}

	function setPart(part = 0) {
		const now = Math.max(LEAST, Math.min(part, MOST));
		document.body.style.setProperty("--changes", `${(now * 100).toFixed(1)}%`);
		grip.ariaValueNow = String(Math.round(now * 100));
		keep("changes-width", String(now));
	}

	const load = () => (loading ??= Promise.all([import("../changes/panel.js"), styles("changes")]).then(([{ makePanel }]) => {
		panel = makePanel({ ...options, close: () => beside.toggle(false) });
		panel.prepend(grip);
		document.body.append(panel);
		new MutationObserver(paint).observe(document.body, { attributeFilter: ["class"] });
	}));

	on(grip, "pointerdown", ({ pointerId }) => {
		grip.setPointerCapture(pointerId);
		grip.onpointermove = ({ clientX }) => setPart(1 - clientX / innerWidth);
	});
	on(grip, "lostpointercapture", () => (grip.onpointermove = null));
	on(grip, "dblclick", () => setPart(USUAL));
	on(grip, "keydown", (event) => {
		const step = { ArrowLeft: 0.03, ArrowRight: -0.03 }[event.key];
		if (step) setPart(Number(grip.ariaValueNow) / 100 + step);
	});
	narrow.addEventListener("change", paint);

	/** @type {Beside} */
	const beside = {
		button,
		get isOpen() { return isOpen; },
		async toggle(wants = !isOpen) {
			isOpen = wants;
			if (!isOpen) {
				const had = panel?.contains(document.activeElement);
				document.body.classList.remove("changes-only");
				paint();
				if (had) button.focus();
				return;
			}
			button.ariaBusy = "true";
			const isFirst = panel === null;
			await load().catch((error) => ((loading = null), (isOpen = false), toastError({ message: "The changes could not be loaded.", hint: String(error?.message ?? "") })));
			button.ariaBusy = null;
			paint();
			if (!isOpen || !panel) return;
			if (!isFirst) panel.refresh();
			panel.focusFirst();
		},
		show(changes) {
			const wanted = JSON.stringify(changes ?? null);
			if (wanted === shown) return;
			shown = wanted;
			const some = changes && changes.files > 0;
			fill(button, icon("changes"), ...(some ? [h("span.away", `Changes in ${plural(changes.files, "file")}: `), ...counts(changes.added, changes.removed)] : [h("span.muted", "Changes")]));
			button.title = `${some ? totalsText(changes) : "Changes"} (Alt+C)`;
		},
		refresh: () => isOpen && panel?.refresh(),
		paint: () => isOpen && panel?.paint(),
		escape: () => (isOpen && panel && (panel.escape() || (beside.toggle(false), true))) || false,
	};
	setPart(Number(kept("changes-width")) || USUAL);
	return beside;
}

/** Loads a style sheet, once. */
function styles(name = "") {
	return new Promise((resolve, reject) => {
		const link = h("link", { rel: "stylesheet", href: `/assets/style/${name}.css`, onload: () => resolve(null), onerror: () => (link.remove(), reject(new Error(`the style sheet ${name}.css could not be loaded`))) });
		document.head.append(link);
	});
}
