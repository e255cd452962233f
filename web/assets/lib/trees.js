// Texts about work trees: how they can be finished, their state, and conflicting files.

/** How a work tree can end, in the order in which it is offered. @type {Api.FinishWay[]} */
export const WAYS = ["merge", "squash", "rebase", "pr", "keep", "discard"];

/** Whether a way needs a branch to combine with. @param {Api.FinishWay} how */
export const needsBase = (how) => how === "merge" || how === "squash" || how === "rebase";

/** Whether a way makes a commit, or a pull request. @param {Api.FinishWay} how */
export const takesMessage = (how) => how !== "discard";

/** @param {Api.FinishWay} how @returns {Way} */
export function wayOf(how, branch = "", base = "") {
	const onto = base || "the base branch";
	switch (how) {
		case "merge":
			return { title: "Merge", text: `Adds a merge commit to ${onto}.`, action: "Merge", done: `Merged into ${onto}.` };
		case "squash":
			return { title: "Squash", text: `Adds all changes to ${onto} as one commit.`, action: "Squash", done: `Squashed into ${onto}.` };
		case "rebase":
			return { title: "Rebase", text: `Puts the commits on top of ${onto}.`, action: "Rebase", done: `Rebased onto ${onto}.` };
		case "pr":
			return { title: "Pull request", text: "Opens one with gh. The work tree stays.", action: "Open a pull request", done: "The pull request is open." };
		case "keep":
			return { title: "Keep the branch", text: "Removes the folder. The branch stays.", action: "Keep the branch", done: `The branch ${branch} has the changes.` };
		case "discard":
			return { title: "Discard", text: "Removes the folder and the branch.", action: "Discard", done: "The work tree is discarded." };
	}
}

/** What base and branch did to a file. @param {Api.WorktreeConflict} conflict */
export function conflictText({ base, branch }, own = "", onto = "") {
	if (base === "deleted") return `deleted in ${onto}, changed in ${own}`;
	if (branch === "deleted") return `changed in ${onto}, deleted in ${own}`;
	return "changed in both";
}

/** @type {Record<Api.Removal, (base: string) => string>} */
const REMOVED = {
	merge: (base) => `Merged into ${base}`,
	squash: (base) => `Squashed into ${base}`,
	rebase: (base) => `Rebased onto ${base}`,
	keep: () => "Branch kept",
	discard: () => "Discarded",
	remove: () => "Folder removed",
};

/** The state of a work tree. @param {Pick<Api.ListedWorktree, "state" | "removed" | "base">} tree */
export function treeState({ state, removed, base = "its base" }) {
	if (removed) return REMOVED[removed.how](base);
	return state === "missing" ? "Folder missing" : "In use";
}

/** @type {Record<Api.ComparisonState, [words: string, mark: Mark]>} */
const STATES = {
	working: ["Working", "working"],
	waiting: ["Needs you", "needs_you"],
	testing: ["Testing", "working"],
	ended: ["Done", "finished"],
	failed: ["Failed", "failed"],
};

/** What an agent of a comparison does, in words and as a mark. @param {Api.ComparisonEntry} entry @returns {[words: string, mark: Mark]} */
export function entryState({ state, session }, kept = "") {
	if (kept && session?.id === kept) return ["Kept", "finished"];
	if (session?.worktree?.removed) return [REMOVED[session.worktree.removed.how](session.worktree.base ?? "its base"), "ended"];
	return STATES[state];
}

/** Whether one of a comparison can be kept: none works any more, and none is kept yet. @param {Api.Comparison} comparison */
export const canKeep = ({ kept, entries }) => !kept && entries.every(({ state }) => state === "ended" || state === "failed");

/** How a test ended. @param {NonNullable<Api.ComparisonEntry["test"]>} test */
export function testText({ exitCode }) {
	if (exitCode === 0) return "Passed";
	return exitCode === undefined ? "Did not end" : `Failed (exit code ${exitCode})`;
}
