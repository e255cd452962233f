// The views of entries: text, plans, notices, and the cards of requests.

import { makePermission } from "../cards/permission.js";
import { callOf } from "../lib/rows.js";
import { lineCount, money, namesOf, plural, tokens } from "../lib/words.js";
import { h, icon, keyed, onLook, setText } from "../ui/dom.js";
import { setHtml } from "../ui/markdown.js";
import { me } from "../ui/me.js";
import { toastError } from "../ui/parts.js";
import { styles } from "../ui/styles.js";
import { noticeView } from "./notice-view.js";
import { toolView } from "./tool-view.js";

/** @type {Record<string, string>} */
const STEP_WORDS = { pending: "to do", in_progress: "in progress", completed: "done" };

/** The height of a line of text, and the padding around a user's message. */
const LINE = 24;
const AROUND = { user: 36, assistant: 0 };

const isPicture = (/** @type {Api.Attachment} */ { mediaType }) => mediaType.startsWith("image/");

/** @type {Views} */
export const views = {
	of(entry, around) {
		const view = views.make(entry, around);
		view.update(entry);
		return view;
	},
	make(entry, around) {
		switch (entry.type) {
			case "user":
			case "assistant":
			case "thinking":
				return views.text(entry.type);
			case "tool-call":
				return toolView(entry, around);
			case "plan":
				return views.plan();
			case "permission":
				return views.permission(around);
			case "question":
				return views.question(around);
			case "notice":
				return noticeView(around);
			default:
				// A newer server may send entries that this page does not know.
				return { element: h("div", { hidden: true }), update: () => {} };
		}
	},
	text(type) {
		const words = h("div.md");
		const note = h("span");
		const files = h("div.attached", { hidden: true });
		const comments = h("div.reviewed", { hidden: true });
		const time = h("time.when");
		const who = h("span.who", { hidden: true });
		const element = type === "thinking"
			? h("div.entry.thinking", h("details", h("summary", icon("think"), note, icon("chevron")), words))
			: h(`article.entry.${type}`, { label: type === "user" ? "You" : "Agent" }, type === "user" && files, words, type === "user" && comments, type === "user" && h("div.said", who, time));
		let said = new Date(0);
		if (type === "user") onLook(element, () => {
			setText(time, said.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
			time.title = said.toLocaleString();
		});
		return {
			element,
			update({ html, content, partial, timestamp, attachments = [], review = [], state = "", by }) {
				words.classList.toggle("plain", html === undefined);
				if (html === undefined) setText(words, content);
				else setHtml(words, html);
				words.hidden = !content && attachments.length + review.length > 0;
				// They never change.
				if (attachments.length && files.hidden) {
					files.hidden = false;
					files.classList.toggle("pictures", attachments.some(isPicture));
					Promise.all([import("../ui/attached.js"), styles("attached")]).then(([{ showAttached }]) => showAttached(files, attachments), () => setText(files, namesOf(attachments)));
				}
				if (review.length && comments.hidden) {
					comments.hidden = false;
					Promise.all([import("../ui/reviewed.js"), styles("reviewed")]).then(([{ showReview }]) => showReview(comments, review), () => setText(comments, plural(review.length, "comment")));
				}
				element.classList.toggle("partial", partial === true);
				element.dataset.state = state;
				const name = type === "user" ? me.who(by) : "";
				if (name) element.ariaLabel = name;
				who.hidden = !name;
				setText(who, name);
				setText(note, partial ? "Thinking…" : "Thought");
				said = new Date(timestamp);
				// Entries out of view are not laid out; without an estimated height all of them would count as visible.
				if (type !== "thinking") element.style.containIntrinsicHeight = `auto ${LINE * lineCount(content) + AROUND[type] + (attachments.some(isPicture) ? 130 : attachments.length && 50)}px`;
			},
			append({ html, content }) {
				if (html) setHtml(words, html.html, html.from);
				else words.append(content);
			},
		};
	},
	plan() {
		const count = h("span.muted");
		const list = h("ol");
		return {
			element: h("section.entry.plan", { label: "Plan" }, h("div.plan-head", icon("plan"), "Plan", count), list),
			update(/** @type {PlanEntry} */ { steps }) {
				setText(count, `${steps.filter(({ status }) => status === "completed").length} of ${steps.length}`);
				const numbered = steps.map((step, at) => ({ ...step, key: `${at}${step.status}${step.content}` }));
				keyed(list, numbered, ({ key }) => key, ({ status, content }) => h("li", { "data-status": status },
					h("span.mark", { role: "img", label: STEP_WORDS[status] }, status === "completed" && icon("check")), h("span", content)));
			},
		};
	},
	permission(around) {
		const card = makePermission({ ...around.place, wide: true, send: around.send, may: around.may });
		const element = h("div.entry", card);
		return {
			element,
			update(/** @type {Entry<"permission">} */ entry) {
				const hadFocus = element.contains(document.activeElement);
				card.show(entry);
				// Once it is answered, it is a part of its call.
				const call = entry.status === "pending" ? undefined : callOf(around.entries(), entry);
				element.hidden = call !== undefined;
				if (call && hadFocus) around.focusOn(call.entryId);
			},
		};
	},
	/** Most conversations have none, so that the card is loaded with the first one. */
	question(around) {
		const element = h("div.entry");
		let asked = /** @type {any} */ (null);
		let show = /** @type {(entry: any) => void} */ ((entry) => (asked = entry));
		Promise.all([import("../cards/question.js"), styles("questions")]).then(([{ makeQuestion }]) => {
			const card = makeQuestion(around);
			element.append(card);
			({ show } = card);
			if (asked) show(asked);
		}, toastError);
		return { element, update: (entry) => show(entry) };
	},
	usage({ contextUsed, contextSize, inputTokens = 0, outputTokens = 0, cost } = {}) {
		const short = [];
		const long = [];
		const part = Math.min(1, (contextUsed ?? 0) / (contextSize || Infinity));
		const ring = h(`span.ring${part > 0.8 ? ".full" : ""}`, { hidden: !contextSize });
		ring.style.setProperty("--part", `${part}turn`);
		if (contextUsed !== undefined) {
			short.push(contextSize ? `${Math.round(part * 100)}%` : tokens(contextUsed));
			long.push(`Context: ${tokens(contextUsed)}${contextSize ? ` of ${tokens(contextSize)}` : ""} tokens`);
		}
		if (inputTokens + outputTokens > 0) {
			long.push(`Last turn: ${tokens(inputTokens)} ${inputTokens === 1 ? "token" : "tokens"} read, ${tokens(outputTokens)} written`);
			if (!short.length) short.push(`${tokens(inputTokens + outputTokens)} ${inputTokens + outputTokens === 1 ? "token" : "tokens"}`);
		}
		if (cost) {
			short.push(money(cost));
			long.push(`Cost: ${money(cost)}`);
		}
		return short.length > 0 && h("span.usage", { title: long.join("\n") }, ring, h("span", { ariaHidden: "true" }, short.join(" · ")), h("span.away", long.join(". ")));
	},
};

/** The progress of a plan, in one line. @param {SpokenEntry | undefined} plan */
export function planProgress(plan) {
	const steps = plan?.type === "plan" ? plan.steps : [];
	const at = steps.findIndex(({ status }) => status === "in_progress");
	return at < 0 ? "" : `${at + 1}/${steps.length} ${steps[at].content}`;
}
