// <convoke-home>: the start screen. A prompt starts a session; below it what needs you, works, has finished and has failed.

import { kept } from "../lib/kept.js";
import { component, h, icon } from "../ui/dom.js";
import { makeBoard } from "./board.js";
import { makeStart } from "./start.js";

/** @type {(board: BoardOptions, start: StartOptions, onsearch: () => void, onplace: (uid: string) => void) => Home} */
export const makeHome = component("convoke-home", (element, boardOptions, startOptions, onsearch, onplace) => {
	const start = makeStart(startOptions);
	const board = makeBoard({ ...boardOptions, recent: true });
	const link = (name = "", words = "", onclick = onsearch) => h("button.link", { onclick }, icon(name), words);
	const treeLinks = [link("branch", "Work trees", () => onplace("@worktrees")), link("compare", "Comparisons", () => onplace("@comparisons"))];
	const links = h("nav.home-links", { label: "More" }, link("search", "Search all sessions and messages"), ...treeLinks);
	const tips = h("p.muted.tips", h("kbd", "?"), " shows the keyboard shortcuts");
	const offers = h("div.offers");
	let offer = /** @type {HistoryView | null} */ (null);
	element.append(start, offers, board, links, tips);
	return {
		write: start.write,
		compare: start.compare,
		focusFirst: () => board.focusFirst() || (start.write(), true),
		tick: board.paint,
		/** Offers the conversations of other programs until that is declined. */
		async offer() {
			if (offer || kept("import-offer") === "dismissed") return;
			const { makeOffer } = await import("./histories.js");
			offer ??= makeOffer({ line: startOptions.line, settings: () => onplace("@settings"), isEmpty: () => boardOptions.store.projects.length === 0 });
			offers.append(offer.element);
		},
		receive: (frame) => offer?.receive(frame),
		paint() {
			start.paint();
			board.paint();
			const { projects, sessions, inbox } = boardOptions.store;
			links.hidden = projects.length === 0 || sessions.size === 0;
			const hasTrees = [...sessions.values()].some(({ worktree }) => worktree);
			for (const one of treeLinks) one.hidden = !hasTrees;
			board.hidden = projects.length === 0 && inbox.length === 0 && sessions.size === 0;
		},
	};
});
