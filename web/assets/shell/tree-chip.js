// The chip for where a new session works: in the project's folder, or in a work tree of its own.

import { keep, kept } from "../lib/kept.js";
import { fill, h, icon } from "../ui/dom.js";
import { dialogs, openMenu } from "../ui/parts.js";

/** Characters of a title in a sentence. */
const TITLE_MAX = 60;

/**
 * The choice is remembered for each project. A branch is used once, since two sessions cannot have it at the same time.
 * @param {{ store: Store, drafts: Drafts, project: () => Project, onchange: () => void }} options @returns {TreeChip}
 */
export function makeTreeChip({ store, drafts, project, onchange }) {
	const chip = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(chip, choices()) });
	const words = h("span");
	const note = h("p.start-note", { role: "status", hidden: true }, icon("info"), words, h("button.link", { onclick: () => choose(true) }, "Use a work tree"));
	const isOn = () => kept(`worktree.${project()?.id}`) === "on";
	const branch = () => /** @type {string} */ (drafts.get(`branch.${project()?.id}`) ?? "");

	/** @returns {MenuItem[]} */
	function choices() {
		const mark = (isChosen = false) => (isChosen ? "check" : "none");
		return [
			["Off: work in the project's folder", mark(!isOn()), () => choose(false)],
			["On: a work tree with a new branch", mark(isOn() && !branch()), () => choose(true)],
			["On: a work tree with a named branch…", mark(isOn() && branch() !== ""), askBranch],
		];
	}

	function choose(wants = true, name = "") {
		keep(`worktree.${project().id}`, wants ? "on" : "off");
		drafts.set(`branch.${project().id}`, name);
		onchange();
	}

	function askBranch() {
		const field = h("input.field", { autofocus: true, value: branch(), label: "Branch", spellcheck: false, autocomplete: "off", autocapitalize: "off", placeholder: "fix-login" });
		dialogs.open("Branch of the work tree", (dialog) => [h("form", {
			onsubmit: (event) => {
				event.preventDefault();
				dialog.close();
				choose(true, field.value.trim());
			},
		}, h("p.muted", "The name of a new branch, or of one that is checked out nowhere. Without a name, Convoke chooses one."), field,
		h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), h("button.button.primary", { type: "submit" }, "Use this branch")))]);
	}

	/** The session that works in the same folder. */
	const neighbour = () => [...store.sessions.values()].find(({ projectId, worktree, activity }) => projectId === project()?.id && !worktree && activity !== "idle");

	return {
		chip,
		note,
		get wanted() { return isOn() ? { ...(branch() && { branch: branch() }) } : undefined; },
		used: () => drafts.set(`branch.${project().id}`, ""),
		paint() {
			const text = `Work tree: ${isOn() ? branch() || "on" : "off"}`;
			chip.hidden = !project();
			chip.ariaLabel = text;
			chip.title = isOn() ? "The session has a git work tree of its own" : "The session works in the project's folder";
			chip.classList.toggle("on", isOn());
			fill(chip, icon("branch"), h("span.title", (isOn() && branch()) || text), icon("chevron"));
			const other = isOn() ? undefined : neighbour();
			note.hidden = !other;
			if (other) fill(words, "“", h("b", other.title.length > TITLE_MAX ? `${other.title.slice(0, TITLE_MAX)}…` : other.title), other.attention === "needs_you" ? "” has not finished in this folder: it waits for you." : "” is working in this folder.");
		},
	};
}
