// <convoke-home>: the start screen. A prompt starts a session; below it what needs you, works, has finished and has failed.

import { component, h, icon } from "../ui/dom.js";
import { makeBoard } from "./board.js";
import { makeStart } from "./start.js";

/** @type {(board: BoardOptions, start: StartOptions, onsearch: () => void) => Home} */
export const makeHome = component("convoke-home", (element, boardOptions, startOptions, onsearch) => {
	const start = makeStart(startOptions);
	const board = makeBoard({ ...boardOptions, recent: true });
	const search = h("button.link.more-sessions", { onclick: onsearch }, icon("search"), "Search all sessions and messages");
	const tips = h("p.muted.tips", h("kbd", "?"), " shows the keyboard shortcuts");
	element.append(start, board, search, tips);
	return {
		write: start.write,
		focusFirst: () => board.focusFirst() || (start.write(), true),
		tick: board.paint,
		paint() {
			start.paint();
			board.paint();
			const { projects, sessions, inbox } = boardOptions.store;
			search.hidden = projects.length === 0 || sessions.size === 0;
			board.hidden = projects.length === 0 && inbox.length === 0;
		},
	};
});
