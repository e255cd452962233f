// The dialog that finishes a work tree: how, with which message, and the obstacles.

import { keep, kept } from "../lib/kept.js";
import { conflictText, needsBase, takesMessage, wayOf } from "../lib/trees.js";
import { plural } from "../lib/words.js";
import { fill, h, icon, quoted, setText } from "../ui/dom.js";
import { dialogs, problem } from "../ui/parts.js";
import { pathList } from "../ui/path-list.js";
import { styles } from "../ui/styles.js";

// Without them the dialog is only less pretty.
styles("trees").catch(() => {});

/**
 * Asks how to finish a work tree, and calls the daemon. Conflicts and refusals are shown in the dialog, with their actions.
 * @param {FinishOptions} options @returns {Promise<[Api.FinishWay, Api.FinishedWorktree] | null>} null if nothing was done
 */
export function askFinish({ heading, intro, title, branch, base, ways, send, restore }) {
	const offered = ways.filter((how) => base || !needsBase(how));
	let how = offered.find((one) => one === kept("finish")) ?? offered[0];
	let found = /** @type {Api.FinishedWorktree | null} */ (null);
	const message = h("textarea.field", { rows: 2, placeholder: title, spellcheck: true });
	const label = h("span");
	const written = h("label.finish-message", label, message);
	const trouble = h("div.trouble", { role: "alert" });
	const go = h("button.button.primary", { type: "submit" });
	const options = h("div.ways", { role: "radiogroup", label: "How" }, ...ways.map(option));
	const form = h("form", { onsubmit: (event) => (event.preventDefault(), submit()) }, ...intro, options, written, trouble,
		h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), go));

	/** @param {Api.FinishWay} one */
	function option(one) {
		const { title: name, text } = wayOf(one, branch, base);
		const isOffered = offered.includes(one);
		const radio = h("input", { type: "radio", name: "way", value: one, checked: one === how, disabled: !isOffered, autofocus: one === how, onchange: () => ((how = one), fill(trouble), paint()) });
		return h("label.way", { "data-way": one }, radio, h("span", h("b", name), h("span.muted", isOffered ? text : "No branch was checked out when the work tree was made.")));
	}

	function paint() {
		const isBusy = form.ariaBusy === "true";
		written.hidden = !takesMessage(how);
		setText(label, how === "pr" ? "Title and description" : "Commit message");
		setText(go, isBusy ? "Working…" : wayOf(how, branch, base).action);
		// The actions for a refusal come before a retry.
		go.className = `button ${trouble.querySelector("button") ? "" : how === "discard" ? "danger" : "primary"}`;
		for (const element of [go, message, ...trouble.querySelectorAll("button")]) element.disabled = isBusy;
	}

	function setBusy(isBusy = true) {
		form.ariaBusy = String(isBusy);
		paint();
	}

	/** @param {Partial<Api.FinishWorktree>} [more] */
	async function submit(more) {
		const text = message.value.trim();
		if (!more) fill(trouble);
		setBusy();
		try {
			const answer = await send({ how, ...(text && takesMessage(how) && { message: text }), ...more });
			if (answer.outcome !== "conflicts" || answer.prompt) {
				keep("finish", how);
				found = answer;
				return dialog.close();
			}
			fill(trouble, ...conflicts(answer.conflicts));
		} catch (error) {
			fill(trouble, ...refusal(error));
		}
		setBusy(false);
		trouble.scrollIntoView({ block: "nearest" });
	}

	async function bringBack() {
		setBusy();
		if (await restore()) fill(trouble);
		setBusy(false);
	}

	/** @param {Api.WorktreeConflict[]} files */
	function conflicts(files) {
		const onto = base ?? "the base branch";
		return [
			h("p.trouble-title", icon("warning"), `${plural(files.length, "file")} in conflict. Nothing was done.`),
			h("p", h("code", branch), " and ", h("code", onto), " changed the same places differently."),
			pathList(files.map((file) => [file.path, conflictText(file, branch, onto)])),
			h("button.button.primary", { onclick: () => submit({ resolve: true }) }, "Let the agent resolve them"),
		];
	}

	/** @param {any} error */
	function refusal(error) {
		const files = /** @type {string[]} */ (error.files ?? []);
		const isLost = error.code === "files_not_captured";
		const isDirty = error.code === "uncommitted_changes";
		const heading = isLost ? `${plural(files.length, "file")} would be lost` : `${base ?? "The base branch"} has uncommitted changes`;
		return [
			h("p.trouble-title", icon("warning"), isLost || isDirty ? `${heading}. Nothing was done.` : h("span", ...quoted(problem(error)))),
			isDirty && h("p", "Commit or stash these files in the project's folder first."),
			isLost && h("p", "No snapshot has these files, so that they could not be restored. Move them away, or delete them for good."),
			files.length > 0 && pathList(files.map((path) => [path])),
			error.code === "worktree_missing" && h("button.button.primary", { onclick: bringBack }, "Restore work tree"),
			isLost && h("button.button.danger", { onclick: () => submit({ force: true }) }, "Delete them and go on"),
		];
	}

	const dialog = dialogs.open(heading, () => [form]);
	dialog.classList.add("finish");
	paint();
	return new Promise((resolve) => dialog.addEventListener("close", () => resolve(found && [how, found])));
}
