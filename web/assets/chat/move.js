// Moves a session to another machine.

import { h } from "../ui/dom.js";
import { dialogs, showProblem, toast } from "../ui/parts.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";

const FILES = [
	["auto", "Bring them along, and write them if the project there has no changes"],
	["restore", "Bring them along, and write them in any case"],
	["checkpoint", "Bring them along as a checkpoint only"],
	["leave", "Leave them here"],
];

/** Asks where a session moves, and moves it. @param {{ uid: string, title: string }} session @param {{ isRunning: boolean, hasTree: boolean, away?: string }} state */
export async function openMove({ uid, title }, { isRunning, hasTree, away }) {
	const path = `/api/sessions/${encodeURIComponent(uid)}/move`;
	const [{ targets }] = /** @type {[Api.MoveTargets, unknown]} */ (await Promise.all([rest(path), styles("trees")]));
	if (!targets.length) return void toast("There is no other machine.");
	const bad = h("p.bad", { role: "alert", hidden: true });
	const rows = targets.map((target) => rowOf(target));
	const files = h("select.field", ...FILES.map(([value, label]) => h("option", { value }, label)));
	const stop = h("input", { type: "checkbox" });
	const first = rows.find(({ radio }) => !radio.disabled);
	if (first) first.radio.checked = true;
	dialogs.open(`Move “${title}”`, (dialog) => {
		const go = h("button.button.primary", { disabled: !first, onclick: async () => {
			const row = rows.find(({ radio }) => radio.checked);
			if (!row) return;
			go.disabled = true;
			bad.hidden = true;
			try {
				const how = away ? { fromAway: true } : { files: hasTree ? undefined : files.value, stop: stop.checked };
				const { text } = await rest(path, "POST", { to: row.target.node, project: row.project.value || undefined, ...how });
				dialog.close();
				toast(text);
			} catch (error) {
				showProblem(bad, error);
				bad.hidden = false;
				go.disabled = false;
			}
		} }, "Move");
		return [
			h("p", away ? `${away} is away. The conversation moves without its files; what ${away} does with it when it is back is not stored.` : "The conversation continues there. Its agent is stopped here, and starts there with the next message."),
			h("div.ways", { role: "radiogroup", label: "Machine" }, ...rows.map(({ element }) => element)),
			!away && hasTree && h("p", "Its work tree moves along, with its branch and its uncommitted changes. Ignored files are deleted."),
			!away && !hasTree && h("label.labelled", "Files", files),
			!away && isRunning && h("label", stop, " Stop the running turn"),
			bad,
			h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), go),
		].filter((part) => part !== false);
	});
}

/** @param {Api.MoveTarget} target */
function rowOf(target) {
	const all = [...target.repos, ...target.others];
	const isOffered = !target.away && all.length > 0;
	const radio = h("input", { type: "radio", name: "move-to", disabled: !isOffered });
	const project = h("select.field", { label: `Project on ${target.name}`, hidden: !isOffered }, ...all.map(({ id, name, path }) => h("option", { value: id }, `${name} · ${path}`)));
	const element = h("label.way", radio, h("span", h("b", target.name), project, target.reason && h("span.muted", target.reason)));
	return { target, radio, project, element };
}
