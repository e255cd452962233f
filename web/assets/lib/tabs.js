// Open tabs: an ordered list without duplicates, the active one, and the previously active ones. Without an active one
// Home is shown, which is always the first tab and not in the list.

import { attempt } from "./kept.js";

/** @type {TabsModule} */
export const tabs = {
	open(state, tab) {
		const isOpen = state.tabs.some(({ uid }) => uid === tab.uid);
		const all = isOpen ? state.tabs.map((old) => (old.uid === tab.uid ? tab : old)) : [...state.tabs, tab];
		return tabs.activate({ ...state, tabs: all }, tab.uid);
	},
	activate(state, uid) {
		if (uid === null) return { ...state, active: null };
		if (!state.tabs.some((tab) => tab.uid === uid)) return state;
		return { ...state, active: uid, recent: [uid, ...state.recent.filter((other) => other !== uid)] };
	},
	close(state, uid) {
		const at = state.tabs.findIndex((tab) => tab.uid === uid);
		if (at < 0) return state;
		const left = state.tabs.toSpliced(at, 1);
		const recent = state.recent.filter((other) => other !== uid);
		if (state.active !== uid) return { ...state, tabs: left, recent };
		return tabs.activate({ tabs: left, recent, active: null }, recent[0] ?? left[Math.min(at, left.length - 1)]?.uid ?? null);
	},
	move(state, uid, to) {
		const tab = state.tabs.find((other) => other.uid === uid);
		if (!tab) return state;
		const others = state.tabs.filter((other) => other !== tab);
		return { ...state, tabs: others.toSpliced(Math.max(0, Math.min(to, others.length)), 0, tab) };
	},
	neighbour({ tabs, active }, steps) {
		const order = [null, ...tabs.map(({ uid }) => uid)];
		return order.at((order.indexOf(active) + steps) % order.length) ?? null;
	},
	rename: (state, uid, title) => ({ ...state, tabs: state.tabs.map((tab) => (tab.uid === uid ? { ...tab, title } : tab)) }),
	read(text) {
		// Unreadable state means no tabs.
		const read = attempt(() => JSON.parse(text ?? "null"));
		const list = (/** @type {any} */ value) => (Array.isArray(value) ? value : []);
		const all = list(read?.tabs).filter((tab) => ["uid", "title", "projectId"].every((key) => typeof tab?.[key] === "string"));
		const isOpen = (uid = "") => all.some((tab) => tab.uid === uid);
		return { tabs: all, recent: list(read?.recent).filter(isOpen), active: isOpen(read?.active) ? read.active : null };
	},
};
