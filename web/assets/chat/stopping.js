// Stopping the running turn: Escape twice, and the question what becomes of prompts that wait.

import { plural } from "../lib/words.js";
import { h } from "../ui/dom.js";
import { dialogs } from "../ui/parts.js";

/** A second Escape within this time stops the agent. */
const ESCAPE_MS = 1000;

/** @param {StopWishes} wishes */
export function makeStop({ isRunning, waiting, cancel, hint }) {
	let [escapedAt, timer] = [0, 0];

	function stop() {
		const count = waiting();
		if (!isRunning() || dialogs.isOpen()) return;
		if (!count) return cancel();
		const what = count > 1 ? plural(count, "message") : "message";
		dialogs.open("Stop the agent?", (dialog) => {
			/** @param {Api.QueueChoice} how */
			const button = (label = "", why = "", how, style = "") => h(`button.choice${style}`, { autofocus: how === "send", onclick: () => (dialog.close(), cancel(how)) }, h("b", label), h("span.muted", why));
			return [
				h("p", count > 1 ? `${plural(count, "message")} are waiting.` : "One message is waiting."),
				h("div.choices",
					button("Stop, and send the next message", "The agent goes on with the first one at once.", "send"),
					button(`Stop, and keep the ${what} waiting`, "Sent when you say so, or before your next message.", "keep"),
					button(`Stop, and discard the ${what}`, `${count > 1 ? "They stay" : "It stays"} in the conversation, unanswered.`, "discard", ".bad")),
			];
		});
	}

	return {
		/** Stops the running turn, after asking where that is needed. */
		stop,
		/** The first of two presses gives a hint, the second stops. */
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
