// Actions on changes: restore, undo, revert, fork. Each shows its result.

import { plural, visibleName } from "../lib/words.js";
import { h } from "../ui/dom.js";
import { dialogs, toast, toastError } from "../ui/parts.js";
import { pathList } from "../ui/path-list.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";

// Without them the dialogs are only less pretty.
styles("changes").catch(() => {});

const pathOf = (uid = "", act = "") => `/api/sessions/${encodeURIComponent(uid)}/${act}`;

/**
 * Calls the daemon, and again after a confirmation if other programs changed the files meanwhile.
 * @param {string} uid @param {string} act @param {Record<string, unknown>} body
 * @returns {Promise<Api.Restored | null>} null if it was not done
 */
async function carryOut(uid, act, body) {
	try {
		return await rest(pathOf(uid, act), "POST", body);
	} catch (/** @type {any} */ error) {
		if (error.code !== "files_changed") {
			toastError(error);
			return null;
		}
		return (await overwrites(error)) ? carryOut(uid, act, { ...body, force: true }) : null;
	}
}

/** @param {{ message: string, files: string[] }} refusal @returns {Promise<boolean>} */
function overwrites({ files }) {
	return new Promise((resolve) => {
		let isYes = false;
		const dialog = dialogs.open("These files were changed by someone else", (dialog) => [
			h("p", `${files.length === 1 ? "This file was" : `${plural(files.length, "file")} were`} changed after the agent's last turn, by you or another program. Nothing has been done.`),
			pathList(files.map((path) => [path])),
			h("p.muted", "What is overwritten is kept: undoing brings it back."),
			h("footer",
				h("button.button", { autofocus: true, onclick: () => dialog.close() }, "Leave them"),
				h("button.button.danger", { onclick: () => ((isYes = true), dialog.close()) }, "Overwrite")),
		]);
		dialog.addEventListener("close", () => resolve(isYes));
	});
}

/** What was done, in a sentence. @param {Api.Restored} done */
function outcome({ written, removed, blocked }, nothing = "Nothing had to be changed.") {
	const parts = [written.length && `${plural(written.length, "file")} written`, removed.length && `${plural(removed.length, "file")} removed`, blocked.length && `${plural(blocked.length, "file")} left alone`].filter(Boolean);
	return parts.length ? `Restored: ${parts.join(", ")}.` : nothing;
}

/** Shows what was done; files that were left alone are listed with reasons. @param {string} uid @param {Api.Restored} done */
function tell(uid, done, text = outcome(done)) {
	const { blocked } = done;
	if (blocked.length) dialogs.open("Some files were left alone", (dialog) => [
		h("p", text),
		pathList(blocked.map(({ path, why }) => [path, why])),
		h("footer", h("button.button", { autofocus: true, onclick: () => dialog.close() }, "Close")),
	]);
	else if (done.written.length + done.removed.length > 0) toast(text, "Undo", () => acts.undo(uid));
	else toast(text);
}

/** Dispatches an event when the last restore was undone. */
export const undone = new EventTarget();

/** @type {ChangeActs} */
export const acts = {
	async revert(uid, what, name) {
		const done = await carryOut(uid, "revert", what);
		if (done) tell(uid, done, done.blocked.length ? undefined : done.written.length + done.removed.length ? `Reverted ${name}.` : `${what.path} is as it was already.`);
		return done !== null;
	},
	confirmRevert(uid, what) {
		return new Promise((resolve) => {
			let isYes = false;
			const dialog = dialogs.open("Revert this file?", (dialog) => [
				h("p", h("code", visibleName(what.path)), what.turn ? " becomes what it was before the turn." : " becomes what it was before the session."),
				h("p.muted", "This can be undone."),
				h("footer",
					h("button.button", { onclick: () => dialog.close() }, "Cancel"),
					h("button.button.danger", { autofocus: true, onclick: () => ((isYes = true), dialog.close()) }, "Revert")),
			]);
			dialog.addEventListener("close", () => resolve(isYes && acts.revert(uid, what, what.path)));
		});
	},
	async undo(uid) {
		const done = await carryOut(uid, "undo", {});
		if (!done) return false;
		toast(outcome(done).replace("Restored:", "Undone:"));
		undone.dispatchEvent(new Event("undone"));
		return true;
	},
	restore(uid, turn, open) {
		dialogs.open("Restore to before this message", (dialog) => {
			/** @param {"files" | "conversation" | "both"} what */
			const choice = (label = "", why = "", what) => h("button.choice", {
				autofocus: what === "both",
				onclick: async () => {
					dialog.close();
					const done = await carryOut(uid, "restore", { turn, what });
					if (!done) return;
					if (!done.session) return tell(uid, done, outcome(done, "The files are as they were before this message already."));
					open(done.session.id, what === "both" ? `${outcome(done, "The files had not changed.")} The conversation continues here.` : "The conversation continues here, from before that message.");
				},
			}, h("b", label), h("span.muted", why));
			return [
				h("p", "Everything becomes what it was when this message was sent. What is there now is kept, and can be restored."),
				h("div.choices",
					choice("Files and conversation", "The files go back, and a new session has what was said until then.", "both"),
					choice("Files only", "This conversation stays as it is.", "files"),
					choice("Conversation only", "A new session has what was said until then. No file is touched.", "conversation")),
			];
		});
	},
	async fork(uid, turn, open) {
		try {
			const { id } = await rest(pathOf(uid, "fork"), "POST", turn ? { turn } : {});
			open(id, "Forked: this session has the conversation up to there.");
		} catch (error) {
			toastError(error);
		}
	},
};
