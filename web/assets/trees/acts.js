// Actions on work trees: finish, restore, remove. Each shows its result.

import { WAYS, wayOf } from "../lib/trees.js";
import { totalsText } from "../lib/words.js";
import { h } from "../ui/dom.js";
import { dialogs, toast, toastError } from "../ui/parts.js";
import { pathList } from "../ui/path-list.js";
import { rest } from "../ui/rest.js";
import { askFinish } from "./finish.js";

const treeOf = (uid = "") => `/api/worktrees/${encodeURIComponent(uid)}`;

/** Finishes the work tree of a session. @param {string} uid @param {Api.FinishWorktree} body @returns {Promise<Api.FinishedWorktree>} */
export const finishTree = (uid, body) => rest(`/api/sessions/${encodeURIComponent(uid)}/finish`, "POST", body);

/** Shows the result for a work tree. @param {Api.FinishWay} how @param {Api.FinishedWorktree} found */
export function tellFinished(how, { outcome, session, base, pullRequest = "" }) {
	if (outcome === "conflicts") return toast("The agent was asked to resolve the conflicts. Finish again when it is done.");
	if (outcome === "pull_request") return showPullRequest(pullRequest);
	const { done } = wayOf(how, session.worktree?.branch, base);
	if (how === "discard") return toast(done, "Restore", () => trees.restore(session.id));
	toast(`${done} The work tree is removed.`);
}

function showPullRequest(address = "") {
	// The address is the output of `gh`.
	const isLink = /^https?:\/\//.test(address);
	dialogs.open("The pull request is open", (dialog) => [
		h("p", isLink ? h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, address) : address),
		h("p.muted", "The work tree stays, for what reviewers say."),
		h("footer", h("button.button.primary", { autofocus: true, onclick: () => dialog.close() }, "Close")),
	]);
}

/** Asks before files are deleted that no snapshot has. @param {string[]} files @returns {Promise<boolean>} */
function deletes(files) {
	return new Promise((resolve) => {
		let isYes = false;
		const dialog = dialogs.open("These files would be lost", (dialog) => [
			h("p", "No snapshot has them, so that they could not be restored. Nothing was removed."),
			pathList(files.map((path) => [path])),
			h("footer",
				h("button.button", { autofocus: true, onclick: () => dialog.close() }, "Keep the work tree"),
				h("button.button.danger", { onclick: () => ((isYes = true), dialog.close()) }, "Delete them and go on")),
		]);
		dialog.addEventListener("close", () => resolve(isYes));
	});
}

/** @param {Api.ListedWorktree} tree @returns {Promise<boolean>} */
async function removeNow(tree, isForced = false) {
	try {
		await rest(`${treeOf(tree.sessionId)}${isForced ? "?force=true" : ""}`, "DELETE");
		toast("The folder is removed.", "Restore", () => trees.restore(tree.sessionId));
		return true;
	} catch (/** @type {any} */ error) {
		if (error.code === "files_not_captured" && !isForced) return (await deletes(error.files)) && removeNow(tree, true);
		toastError(error);
		return false;
	}
}

/** @type {TreeActs} */
export const trees = {
	async finish({ uid, title, worktree, changes }) {
		if (!worktree || dialogs.isOpen()) return;
		const { branch, base } = worktree;
		const intro = [
			h("p", "The branch ", h("code", branch), base ? " was made from " : "", base && h("code", base), changes?.files ? `: ${totalsText(changes)}.` : "."),
			h("p.muted", "Uncommitted changes are committed first. Before anything is removed, a snapshot is made, from which it can be restored."),
		];
		const found = await askFinish({ heading: "Finish the work tree", intro, title, branch, base, ways: WAYS, send: (body) => finishTree(uid, body), restore: () => trees.restore(uid) });
		if (found) tellFinished(...found);
	},
	async restore(uid) {
		try {
			await rest(`${treeOf(uid)}/restore`, "POST", {});
			toast("The work tree is restored: its branch, commits and files.");
			return true;
		} catch (error) {
			toastError(error);
			return false;
		}
	},
	remove(tree) {
		return new Promise((resolve) => {
			let isYes = false;
			const dialog = dialogs.open("Remove the folder?", (dialog) => [
				h("p", "The session ends, and the folder is removed after a snapshot. The branch ", h("code", tree.branch), " stays as it is."),
				h("p.muted", h("code", tree.path)),
				h("footer",
					h("button.button", { autofocus: true, onclick: () => dialog.close() }, "Cancel"),
					h("button.button.danger", { onclick: () => ((isYes = true), dialog.close()) }, "Remove")),
			]);
			dialog.addEventListener("close", () => resolve(isYes && removeNow(tree)));
		});
	},
};
