// <convoke-inbox>: the pending requests of all sessions, answered in place.

import { makePermission } from "../cards/permission.js";
import { makeQuestion } from "../cards/question.js";
import { keep, kept } from "../lib/kept.js";
import { relativeTime } from "../lib/words.js";
import { component, fill, h, icon, iconButton, keyed, part, setText } from "../ui/dom.js";

/** @type {(options: InboxOptions) => Inbox} */
export const makeInbox = component("convoke-inbox", (element, options) => {
	const { store, onopen, onhide } = options;
	const list = h("div.inbox-list");
	const empty = h("div.empty", icon("check"), "No pending requests.");
	const close = iconButton("close", "Close the inbox", onhide);
	const permission = () => ("Notification" in window ? Notification.permission : "denied");
	const notifies = () => permission() === "granted" && kept("notify") === "on";
	const toggle = async () => {
		const isOn = !notifies();
		if (isOn) await Notification.requestPermission();
		keep("notify", isOn ? "on" : "off");
		paintNotify();
	};
	const notify = h("button.link.notify", { onclick: toggle });
	const paintNotify = () => {
		notify.hidden = permission() === "denied";
		notify.ariaPressed = String(notifies());
		fill(notify, icon("bell"), notifies() ? "Notifications on" : "Notify me");
	};

	/** @param {Api.InboxItem} item */
	function make(item) {
		const uid = store.uidOf(item);
		const name = uid ? h("button.link.name", { title: "Open the session", onclick: () => onopen(uid) }) : h("span.name");
		const place = item.project ?? item.workingDirectory ?? "";
		return h("article", h("div.inbox-from", h("span.badge"), name, h("span.muted.place", { title: place }, place), h("time.muted")),
			item.kind === "permission" ? makePermission(options) : makeQuestion(options));
	}

	const focusFirst = () => /** @type {HTMLElement} */ (list.querySelector(".request button, .request input") ?? close).focus();

	element.role = "complementary";
	element.ariaLabel = "Inbox";
	element.append(h("div.inbox-head", h("h2", "Inbox"), notify, close), empty, list);
	paintNotify();
	return {
		get notifies() { return notifies(); },
		paint() {
			empty.hidden = store.inbox.length > 0;
			const hadFocus = list.contains(document.activeElement);
			keyed(list, store.inbox, ({ id }) => id, make, (article, item) => {
				const { id, status, title, questions = [] } = item;
				const session = store.sessions.get(store.uidOf(item));
				const agent = session?.cliType ?? item.agent ?? "";
				const badge = part(article, ".badge");
				badge.hidden = !agent;
				setText(badge, store.agent(agent).badge);
				setText(part(article, ".name"), session?.title ?? item.askedBy ?? (agent || "A program"));
				setText(part(article, "time"), relativeTime(item.createdAt, Date.now()));
				article.lastElementChild.show(item.kind === "permission" ? { options: [], title, ...item.permission, permissionId: id, status } : { questions, questionId: id, status });
			});
			// After an answer, move the focus to the next request.
			if (hadFocus && !list.contains(document.activeElement)) focusFirst();
		},
		focusFirst,
	};
});
