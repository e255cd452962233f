// Asks what to do with queued prompts when the turn is cancelled. Loaded when there are some.

import { plural } from "../lib/words.js";
import { h } from "../ui/dom.js";
import { dialogs } from "../ui/parts.js";

/** @param {(how: Api.QueueChoice) => void} cancel */
export function askStop(count = 1, cancel) {
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
