// <convoke-inbox>: the board as a panel beside the conversation.

import { component, h, iconButton, on } from "../ui/dom.js";
import { makeBoard } from "./board.js";
import { makeNotify } from "./notify.js";

/** @type {(options: BoardOptions, onhide: () => void) => Inbox} */
export const makeInbox = component("convoke-inbox", (element, options, onhide) => {
	const board = makeBoard(options);
	const close = iconButton("close", "Close the inbox", onhide);
	element.role = "complementary";
	element.ariaLabel = "Inbox";
	element.append(h("div.inbox-head", h("h2", "Inbox"), makeNotify(), close), h("div.inbox-list", board));
	// A menu or a dialog above it closes first.
	on(element, "keydown", ({ key }) => key === "Escape" && !document.querySelector("dialog[open], :popover-open") && onhide());
	return {
		paint: board.paint,
		focusFirst: () => board.focusFirst() || close.focus(),
	};
});
