// <convoke-board>: what needs you, works, has finished and has failed; Home and the inbox show it.

import { makePermission } from "../cards/permission.js";
import { makeQuestion } from "../cards/question.js";
import { failureOf, groupsOf } from "../lib/attention.js";
import { nodeName } from "../lib/nodes.js";
import { duration, money, relativeTime } from "../lib/words.js";
import { component, fill, h, icon, iconButton, keyed, part, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { nodes } from "../ui/nodes.js";
import { makeMark, paintMarkOf, paintSums } from "./marks.js";

/** The groups of sessions, in the order of the page. @type {[name: "working" | "finished" | "failed" | "recent", title: string][]} */
const GROUPS = [["working", "Working"], ["finished", "Finished, not seen yet"], ["failed", "Failed"], ["recent", "Recent"]];

/** What became of a work tree. @type {Record<Api.Removal, string>} */
const REMOVED = { merge: "merged", squash: "squashed", rebase: "rebased", keep: "branch kept", discard: "discarded", remove: "folder removed" };

/** The branch of a session, and what became of it: the sessions of a comparison have one title. @param {Session} session */
const treeWords = ({ worktree }) => (worktree ? [worktree.branch, worktree.removed && REMOVED[worktree.removed.how]] : []);

/** @type {(options: BoardOptions) => Board} */
export const makeBoard = component("convoke-board", (element, options) => {
	const { store, handlers } = options;
	const section = (name = "", title = "") => h("section.group", { "data-group": name, hidden: true, label: title }, h("h2", h("span", title), h("span.muted.many")), h("div.items"));
	const asked = section("needsYou", "Needs you");
	const heading = part(asked, "h2 > span");
	const left = h("details.group.left", { "data-group": "left", hidden: true }, h("summary", h("span", "No longer waited for"), h("span.muted.many"), icon("chevron")),
		h("p.muted", "Those who asked have gone. An answer is kept for them, and goes to the session's agent with its next turn."), h("div.items"));
	const others = GROUPS.filter(([name]) => name !== "recent" || options.recent).map(([name, title]) => ({ name, section: section(name, title) }));
	const empty = h("p.calm", icon("check"), "Nothing needs you.");

	/** @param {Api.InboxItem} item */
	function makeAsked(item) {
		const uid = store.uidOf(item);
		const name = uid ? h("button.link.name", { title: "Open the session", onclick: () => handlers.openById(uid) }) : h("span.name");
		const place = item.project ?? item.workingDirectory ?? "";
		// The sessions may come after the requests.
		const root = () => store.sessions.get(store.uidOf(item))?.worktree?.path ?? store.projects.find(({ id }) => id === item.projectId)?.path ?? item.workingDirectory;
		const around = { ...options, may: () => me.may("member", item.projectId) };
		return h("article", h("div.from", h("span.badge"), name, h("span.tag.on-branch", { hidden: true }), h("span.muted.place", { title: place }, place), h("time.muted")),
			item.kind === "permission" ? makePermission({ get root() { return root(); }, editor: me.may("owner") ? store.editor : "", send: options.send, may: around.may }) : makeQuestion(around));
	}

	/** @param {any} article @param {Api.InboxItem} item */
	function paintAsked(article, item) {
		const { id, status, title, questions = [] } = item;
		const session = store.sessions.get(store.uidOf(item));
		const agent = session?.cliType ?? item.agent ?? "";
		const badge = part(article, ".badge");
		badge.hidden = !agent;
		setText(badge, store.agent(agent).badge);
		setText(part(article, ".name"), session?.title ?? item.askedBy ?? (agent || "A program"));
		setText(part(article, "time"), relativeTime(item.createdAt, Date.now()));
		const branch = part(article, ".on-branch");
		branch.hidden = !session?.worktree;
		setText(branch, session?.worktree?.branch ?? "");
		article.lastElementChild.show(item.kind === "permission" ? { options: [], title, ...item.permission, permissionId: id, status } : { questions, questionId: id, status });
	}

	/** @param {Session} session */
	function makeItem({ uid }) {
		const session = () => /** @type {Session} */ (store.sessions.get(uid));
		const open = (/** @type {MouseEvent} */ event) => {
			if (event.ctrlKey || event.metaKey || event.shiftKey) return;
			event.preventDefault();
			handlers.open(session());
		};
		const actions = h("div.item-actions",
			h("button.button.small.retry", { onclick: () => handlers.retry(session()) }, icon("retry"), "Retry"),
			iconButton("check", "Mark as seen", () => handlers.seen(session()), { className: "icon-button see" }));
		return h("article.item", makeMark(),
			h("div.item-body", h("div.from", h("a.name", { href: `/s/${encodeURIComponent(uid)}`, onclick: open }), h("span.badge"), h("span.muted.place"), h("span.sums"), h("span.muted.sum"), h("time.muted")), h("p.item-text"), h("pre.item-detail", { tabIndex: 0, label: "Last output of the agent" })),
			actions);
	}

	/** @param {HTMLElement} article @param {Session} session @param {string} group */
	function paintItem(article, session, group) {
		const { title, cliType, projectId, unseen, failure, cost, lastActiveAt, runningSince } = session;
		const agent = store.agent(cliType);
		const { reason, output } = failureOf(failure);
		const text = group === "failed" ? reason : group === "working" ? (session.step ?? "Working") : (session.lastLine ?? "");
		paintMarkOf(part(article, ".dot"), session);
		setText(part(article, ".name"), title);
		setText(part(article, ".badge"), agent.badge);
		part(article, ".badge").title = agent.title;
		const place = store.folderOf(projectId)?.name ?? "";
		setText(part(article, ".place"), [place, nodeName(nodes.of(session.node)), session.reason === "imported" && `imported from ${agent.title}`, ...treeWords(session)].filter(Boolean).join(" · "));
		paintSums(part(article, ".sums"), session, true);
		setText(part(article, ".sum"), cost && group !== "recent" ? money(cost) : "");
		setText(part(article, "time"), group === "working" ? duration(Date.now() - Date.parse(runningSince ?? lastActiveAt)) : relativeTime(lastActiveAt, Date.now()));
		const words = part(article, ".item-text");
		words.hidden = !text || group === "recent";
		setText(words, text);
		const detail = part(article, ".item-detail");
		detail.hidden = group !== "failed" || !output;
		setText(detail, output);
		const canAct = me.may("member", projectId);
		part(article, ".retry").hidden = group !== "failed" || !canAct;
		part(article, ".see").hidden = !canAct || !unseen || group === "working" || group === "recent";
		part(article, ".see").ariaLabel = `Mark ${title} as seen`;
	}

	const focusFirst = () => {
		const first = /** @type {HTMLElement | null} */ (element.querySelector(".request button, .request input, .item a"));
		first?.focus();
		return first !== null;
	};
	/** @param {HTMLElement} group @param {number} count */
	const count = (group, count) => {
		group.hidden = count === 0;
		setText(part(group, ".many"), String(count));
	};
	fill(element, empty, asked, ...others.map((other) => other.section), left);
	return {
		paint() {
			const groups = groupsOf(store);
			const hadFocus = asked.contains(document.activeElement);
			count(asked, groups.needsYou.length);
			setText(heading, me.maySomewhere("member") ? "Needs you" : "Waits for an answer");
			keyed(part(asked, ".items"), groups.needsYou, ({ id }) => id, makeAsked, paintAsked);
			count(left, groups.left.length);
			keyed(part(left, ".items"), groups.left, ({ id }) => id, makeAsked, paintAsked);
			for (const { name, section } of others) {
				count(section, groups[name].length);
				keyed(part(section, ".items"), groups[name], ({ uid }) => uid, makeItem, (article, session) => paintItem(article, session, name));
			}
			empty.hidden = store.listed.size === 0 || ["needsYou", "failed", "working", "finished"].some((name) => groups[/** @type {keyof Groups} */ (name)].length > 0);
			// After an answer, move the focus to the next request.
			if (hadFocus && !asked.contains(document.activeElement)) focusFirst();
		},
		focusFirst,
	};
});
