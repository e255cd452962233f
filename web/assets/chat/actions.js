// The actions of a message: a bar at the one under the pointer or with the focus.

import { copy, fill, h, iconButton } from "../ui/dom.js";
import { toast } from "../ui/parts.js";

/** @param {MessageWishes} wishes */
export function makeActions(wishes) {
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
			const source = () => wishes.source(entry.entryId);
			fill(element,
				iconButton("copy", "Copy", () => put(isUser ? source() : words())),
				!isUser && iconButton("markdown", "Copy as Markdown", () => put(source(), "Copied as Markdown.")),
				isUser && wishes.canSend() && iconButton("edit", "Edit and resend", () => wishes.edit(source(), entry)),
				isUser && wishes.canSend() && iconButton("retry", "Send again", () => wishes.resend(source(), entry)),
				isUser && wishes.canRestore() && iconButton("undo", "Restore to before this…", () => wishes.restore(entry.seq)),
				wishes.canFork(entry.seq) && iconButton("branch", "Fork from here", () => wishes.fork(entry.seq)),
				iconButton("link", "Copy link", () => put(wishes.link(entry.seq), "Link copied.")));
			at.append(element);
		},
	};
}
