// Cancels the running turn: Escape twice, and the dialog about queued prompts.

import { dialogs, toastError } from "../ui/parts.js";

/** A second Escape within this time stops the agent. */
const ESCAPE_MS = 1000;

/** @param {StopHandlers} handlers */
export function makeStop({ isRunning, waiting, cancel, hint }) {
	let [escapedAt, timer] = [0, 0];

	function stop() {
		const count = waiting();
		if (!isRunning() || dialogs.isOpen()) return;
		if (!count) return cancel();
		import("./stop-choice.js").then(({ askStop }) => dialogs.isOpen() || askStop(count, cancel), toastError);
	}

	return {
		/** Stops the running turn, after asking where that is needed. */
		stop,
		/** The first of two presses shows a hint, the second cancels the turn. */
		escape() {
			clearTimeout(timer);
			const isSecond = Date.now() - escapedAt < ESCAPE_MS;
			escapedAt = isSecond || !isRunning() ? 0 : Date.now();
			hint(escapedAt ? "Press Esc again to stop" : "");
			timer = setTimeout(() => hint(""), ESCAPE_MS);
			if (isSecond) stop();
		},
	};
}
