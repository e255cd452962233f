// Opens the changes beside the conversation. Their module is loaded when they are first opened.

import { plural, totalsText } from "../lib/words.js";
import { counts } from "../ui/code-view.js";
import { fill, h, icon } from "../ui/dom.js";
import { toastError } from "../ui/parts.js";
import { styles } from "../ui/styles.js";

/** @param {HTMLElement} main @param {Omit<ChangesOptions, "close">} options @returns {Beside} */
export function makeBeside(main, options) {
	const button = h("button.changes-button", { ariaExpanded: "false", onclick: () => beside.toggle() });
	const narrow = matchMedia("(max-width: 939px)");
	const { classList } = document.body;
	let panel = /** @type {ChangesPanel | null} */ (null);
	let loading = /** @type {Promise<void> | null} */ (null);
	let isOpen = false;
	let shown = "";

	function paint() {
		button.ariaExpanded = String(isOpen);
		classList.toggle("with-changes", isOpen && panel !== null);
		if (panel) panel.hidden = !isOpen;
		// Elements below the panel cannot be focused.
		main.inert = isOpen && panel !== null && (narrow.matches || classList.contains("changes-only"));
	}

	const load = () => (loading ??= Promise.all([import("../changes/panel.js"), styles("changes")]).then(([{ makePanel }]) => {
		panel = makePanel({ ...options, close: () => beside.toggle(false) });
		document.body.append(panel);
		new MutationObserver(paint).observe(document.body, { attributeFilter: ["class"] });
	}));

	narrow.addEventListener("change", paint);

	/** @type {Beside} */
	const beside = {
		button,
		async toggle(wants = !isOpen) {
			isOpen = wants;
			if (!isOpen) {
				const had = panel?.contains(document.activeElement);
				classList.remove("changes-only");
				paint();
				if (had) button.focus();
				return;
			}
			const isFirst = panel === null;
			await load().catch((error) => {
				[loading, isOpen] = [null, false];
				toastError({ message: "The changes could not be loaded", hint: error?.message });
			});
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
	return beside;
}
