// <convoke-home>: the start screen. A prompt starts a session; below it what needs you, works, has finished and has failed.

import { kept } from "../lib/kept.js";
import { component, h, icon } from "../ui/dom.js";
import { makeBoard } from "./board.js";
import { makeStart } from "./start.js";

/** @type {(board: BoardOptions, start: StartOptions, onsearch: () => void, onsettings: () => void) => Home} */
export const makeHome = component("convoke-home", (element, boardOptions, startOptions, onsearch, onsettings) => {
	const start = makeStart(startOptions);
	const board = makeBoard({ ...boardOptions, recent: true });
	const search = h("button.link.more-sessions", { onclick: onsearch }, icon("search"), "Search all sessions and messages");
	const tips = h("p.muted.tips", h("kbd", "?"), " shows the keyboard shortcuts");
	const offers = h("div.offers");
	let offer = /** @type {HistoryView | null} */ (null);
	element.append(start, offers, board, search, tips);
	return {
		write: start.write,
		focusFirst: () => board.focusFirst() || (start.write(), true),
		tick: board.paint,
		/** What other programs keep is offered until that is declined. */
		async offer() {
			if (offer || kept("import-offer")) return;
			const { makeOffer } = await import("./histories.js");
			offer ??= makeOffer({ line: startOptions.line, settings: onsettings });
			offers.append(offer.element);
		},
		receive: (frame) => offer?.receive(frame),
		paint() {
			start.paint();
			board.paint();
			const { projects, sessions, inbox } = boardOptions.store;
			search.hidden = projects.length === 0 || sessions.size === 0;
			board.hidden = projects.length === 0 && inbox.length === 0;
		},
	};
});
