// The width of the panel: dragged, set by keys, and kept.

import { keep, kept } from "../lib/kept.js";
import { h, on } from "../ui/dom.js";

/** Parts of the window that the panel may have. */
const [LEAST, USUAL, MOST] = [0.3, 0.52, 0.75];
const STEP = 0.03;

export function makeGrip() {
	const grip = h("div.changes-grip", { role: "separator", tabIndex: 0, ariaOrientation: "vertical", label: "Width of the changes", ariaValueMin: String(LEAST * 100), ariaValueMax: String(MOST * 100) });

	function setPart(part = USUAL) {
		const now = Math.max(LEAST, Math.min(part, MOST));
		document.body.style.setProperty("--changes", `${(now * 100).toFixed(1)}%`);
		grip.ariaValueNow = String(Math.round(now * 100));
		keep("changes-width", String(now));
	}

	on(grip, "pointerdown", ({ pointerId }) => {
		grip.setPointerCapture(pointerId);
		grip.onpointermove = ({ clientX }) => setPart(1 - clientX / innerWidth);
	});
	on(grip, "lostpointercapture", () => (grip.onpointermove = null));
	on(grip, "dblclick", () => setPart());
	on(grip, "keydown", ({ key }) => setPart(Number(grip.ariaValueNow) / 100 + ({ ArrowLeft: STEP, ArrowRight: -STEP }[key] ?? 0)));
	setPart(Number(kept("changes-width")) || USUAL);
	return grip;
}
