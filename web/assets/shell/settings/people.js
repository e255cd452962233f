// People who use this daemon besides its owner: their roles, their devices, and what everyone did.

import { plural, timeAgo } from "../../lib/words.js";
import { fill, h, icon, iconButton, quoted, setText } from "../../ui/dom.js";
import { me } from "../../ui/me.js";
import { dialogs, showProblem, toast, toastError } from "../../ui/parts.js";
import { rest } from "../../ui/rest.js";
import { styles } from "../../ui/styles.js";
import { browserName } from "./daemon.js";

// Without them the section is only less pretty.
styles("people").catch(() => {});

/** @type {[role: Api.UserRole, words: string][]} */
const ROLES = [["viewer", "Viewer"], ["member", "Member"], ["owner", "Owner"]];
/** Acts that are read at once. */
const ACTS = 20;

const pathOf = (name = "", more = "") => `/api/users/${encodeURIComponent(name)}${more}`;

/** @param {string} label @param {string} value @param {(role: Api.UserRole) => void} [onpick] */
function roleField(label, value, onpick) {
	const field = h("select.field", { label, onchange: () => onpick?.(/** @type {any} */ (field.value)) }, ...ROLES.map(([role, words]) => h("option", { value: role }, words)));
	field.value = value;
	return field;
}

/** @param {Store} store */
export function makePeople(store) {
	const list = h("ul.people");
	const told = h("p.muted");
	const trail = makeTrail();

	async function load() {
		try {
			const { users } = await rest("/api/users");
			fill(list, ...users.map(row));
			// A browser cannot make links: a stolen one must not become another that lasts.
			fill(told, ...quoted(users.length ? "`convoke user add NAME` adds another one, and `convoke user link NAME` signs in another browser of theirs." : "Only you, so far. `convoke user add NAME` in a terminal adds someone, and prints a link for their browser."));
		} catch (error) {
			showProblem(told, error);
		}
	}

	/** Does something with a user, and shows what came of it. @param {any} [body] */
	const act = (path = "", method = "POST", body, said = "") => rest(path, method, body).then(() => said && toast(said), toastError).then(load);

	/** @param {Api.User} user */
	function row({ name, role, projects, devices }) {
		const remove = () => dialogs.confirm(`Remove ${name}?`, "All of their devices are signed out, and their rules are removed. What they did stays in the activity.", "Remove", () => act(pathOf(name), "DELETE"));
		const signOut = () => dialogs.confirm(`Sign out ${name} everywhere?`, "All of their browsers and tokens stop working at once.", "Sign out", () => act(pathOf(name, "/sign-out")));
		return h("li",
			h("div.person", h("b", name), roleField(`Role of ${name}`, role, (next) => act(pathOf(name), "PATCH", { role: next }, `${name} is ${next === "owner" ? "an" : "a"} ${next} now.`)),
				h("button.button.small", { label: `Role of ${name} in a project`, onclick: () => askProject(name), hidden: store.projects.length === 0 }, "In a project…"),
				h("button.button.small", { label: `Remove ${name}`, onclick: remove }, "Remove…")),
			...projects.map(({ repoId, project, role: own }) => h("div.device", icon("folder"), h("span", own === "owner" ? `Owner in ${project}` : `${own === "viewer" ? "Viewer" : "Member"} in ${project}`),
				iconButton("close", `Remove the role of ${name} in ${project}`, () => act(pathOf(name), "PATCH", { role: null, repoId })))),
			...devices.map((device) => deviceRow(name, device)),
			devices.length > 1 && h("button.link", { onclick: signOut }, `Sign out all ${plural(devices.length, "device")}`));
	}

	/** @param {string} name @param {Api.Device} device */
	function deviceRow(name, { id, kind, label, createdAt, lastUsedAt }) {
		const what = kind === "browser" ? browserName(label) : label;
		return h("div.device", icon(kind === "browser" ? "system" : "lock"), h("span", { title: label }, what, h("span.muted", ` ${kind === "token" ? "token · " : ""}since ${new Date(createdAt).toLocaleDateString()} · ${lastUsedAt ? `last used ${timeAgo(lastUsedAt, Date.now())}` : "never used"}`)),
			iconButton("close", `Sign out ${what} of ${name}`, () => dialogs.confirm(`Sign out ${what}?`, kind === "token" ? "Programs that use this token are refused from now on." : "Its open pages are disconnected at once.", "Sign out", () => act(pathOf(name, `/devices/${encodeURIComponent(id)}`), "DELETE"))));
	}

	/** A role in one project, in place of the general one. */
	function askProject(name = "") {
		const where = h("select.field", { label: "Project", autofocus: true }, ...store.projects.map(({ id, name: project }) => h("option", { value: id }, project)));
		const role = roleField("Role", "member");
		dialogs.open(`Role of ${name} in a project`, (dialog) => [h("form", {
			onsubmit: (event) => {
				event.preventDefault();
				dialog.close();
				act(pathOf(name), "PATCH", { role: role.value, repoId: where.value });
			},
		}, h("p.muted", "It replaces the general role there."), where, role, h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), h("button.button.primary", { type: "submit" }, "Set the role")))]);
	}

	load();
	return h("div", list, told, trail);
}

/** What everyone did, read when it is opened. */
function makeTrail() {
	const list = h("ul.acts");
	const more = h("button.link", { hidden: true, onclick: () => load() }, "Show older");
	const told = h("p.muted", { role: "status" });
	let next = /** @type {number | undefined} */ (undefined);

	async function load() {
		try {
			const page = await rest(`/api/audit?limit=${ACTS}${next ? `&before=${next}` : ""}`);
			next = page.next;
			list.append(...page.entries.map(entryRow));
			more.hidden = next === undefined;
			setText(told, list.children.length ? "" : "Nothing yet.");
		} catch (error) {
			showProblem(told, error);
		}
	}

	/** @param {Api.AuditEntry} entry */
	function entryRow({ at, user, action, subject, from, node }) {
		const who = user === me.name ? "You" : (user ?? "The owner");
		return h("li", { title: [from, node && `on ${node}`].filter(Boolean).join(", ") }, h("time.muted", { title: new Date(at).toLocaleString() }, timeAgo(at, Date.now())), h("b", who), h("span", action), h("span.muted.title", subject));
	}

	return h("details.activity", {
		ontoggle: (/** @type {any} */ { target }) => {
			next = undefined;
			fill(list);
			if (target.open) load();
		},
	}, h("summary", "Activity", icon("chevron")), list, more, told);
}
