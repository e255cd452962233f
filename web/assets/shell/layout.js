// The sidebar's width and visibility: dragged, set by keys, stored; on narrow screens a sheet above the page.

import { keep, kept } from "../lib/kept.js";
import { on, part } from "../ui/dom.js";

const [NARROWEST, USUAL, WIDEST] = [200, 272, 480];
/** The inbox beside a conversation of this width at least; with less room it covers the conversation. */
const [INBOX, CONVERSATION] = [400, 560];
export const narrow = matchMedia("(max-width: 720px)");

/** @param {() => void} onchange @returns {Layout} */
export function makeLayout(onchange) {
	const [side, grip, cover, main] = ["#side", "#grip", "#cover", "#main"].map((id) => part(document, id));
	let width = USUAL;
	let isShown = kept("sidebar") !== "hidden";
	/** The sheet of a narrow screen starts closed. */
	let isDrawn = false;

	function paint() {
		side.hidden = !layout.isShown;
		side.classList.toggle("drawn", isDrawn);
		grip.hidden = narrow.matches;
		// Elements below a sheet cannot be focused.
		cover.hidden = !(main.inert = narrow.matches && !side.hidden);
		fit();
		onchange();
	}

	const fit = () => document.body.classList.toggle("tight", layout.isTight);

	function setWidth(wanted = USUAL) {
		width = Math.round(Math.max(NARROWEST, Math.min(wanted, WIDEST)));
		document.documentElement.style.setProperty("--side", `${width}px`);
		grip.ariaValueNow = String(width);
		keep("sidebar-width", String(width));
		fit();
	}

	/** @type {Layout} */
	const layout = {
		get isShown() { return narrow.matches ? isDrawn : isShown; },
		get isTight() { return innerWidth - (side.hidden || narrow.matches ? 0 : width) < INBOX + CONVERSATION; },
		toggle() {
			if (narrow.matches) isDrawn = !isDrawn;
			else keep("sidebar", (isShown = !isShown) ? "shown" : "hidden");
			paint();
		},
		reveal: () => layout.isShown || layout.toggle(),
		close() {
			if (narrow.matches && isDrawn) layout.toggle();
		},
	};
	setWidth(Number(kept("sidebar-width")) || USUAL);
	on(grip, "pointerdown", ({ clientX, pointerId }) => {
		const from = width - clientX;
		grip.setPointerCapture(pointerId);
		grip.onpointermove = (event) => setWidth(from + event.clientX);
	});
	on(grip, "lostpointercapture", () => (grip.onpointermove = null));
	on(grip, "dblclick", () => setWidth());
	on(grip, "keydown", ({ key }) => setWidth(width + ({ ArrowLeft: -16, ArrowRight: 16 }[key] ?? 0)));
	/** Closes the sheet, and gives the focus back to what opened it. */
	function dismiss() {
		if (!narrow.matches || !isDrawn) return;
		layout.close();
		part(document, "#toggle-main").focus();
	}
	on(cover, "click", dismiss);
	on(side, "keydown", ({ key }) => key === "Escape" && dismiss());
	narrow.addEventListener("change", paint);
	addEventListener("resize", fit);
	// Safari does not make room for the keyboard by itself (`interactive-widget` in the other browsers).
	visualViewport?.addEventListener("resize", () => {
		// Not while the page is zoomed, when the viewport is only a part of the screen.
		if (visualViewport?.scale === 1) document.documentElement.style.setProperty("--height", `${visualViewport.height}px`);
	});
	paint();
	return layout;
}
