// The actions of a message: a bar at the one under the pointer or with the focus.

import { copy, fill, h, iconButton } from "../ui/dom.js";
import { toast } from "../ui/parts.js";

/** @param {MessageHandlers} handlers */
export function makeActions(handlers) {
	const element = h("div.actions", { role: "toolbar", label: "Message" });

	async function put(text = "", what = "Copied.") {
		toast((await copy(text)) ? what : "Could not copy.");
	}

	return {
		element,
		/** Moves the bar to a message. @param {HTMLElement} at @param {Entry<"user" | "assistant">} entry */
		show(at, entry) {
			const isUser = entry.type === "user";
			// Read when the button is pressed, since the message may still grow.
			const words = () => /** @type {HTMLElement} */ (at.querySelector(".md")).innerText;
			const source = () => handlers.source(entry.entryId);
			fill(element,
				iconButton("copy", "Copy", () => put(isUser ? source() : words())),
				!isUser && iconButton("markdown", "Copy as Markdown", () => put(source(), "Copied as Markdown.")),
				isUser && handlers.canSend() && iconButton("edit", "Edit and resend", () => handlers.edit(source(), entry)),
				isUser && handlers.canSend() && iconButton("retry", "Send again", () => handlers.resend(source(), entry)),
				isUser && handlers.canRestore() && iconButton("undo", "Restore to before this…", () => handlers.restore(entry.seq)),
				handlers.canFork(entry.seq) && iconButton("branch", "Fork from here", () => handlers.fork(entry.seq)),
				iconButton("link", "Copy link", () => put(handlers.link(entry.seq), "Link copied.")));
			at.append(element);
		},
	};
}
