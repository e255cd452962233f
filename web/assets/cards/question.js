// <convoke-question>: a set of questions, answered in place with options, free text, or both.

import { answers } from "../lib/answers.js";
import { plural } from "../lib/words.js";
import { component, fill, h, icon, on, part, setText } from "../ui/dom.js";
import { setHtml } from "../ui/markdown.js";
import { me } from "../ui/me.js";
import { makeCard, refusalForm, UNANSWERABLE } from "./request.js";

let radioGroups = 0;

/** @type {(around: {send: Send, drafts: Drafts, may(): boolean}) => Card<Api.QuestionSet>} */
export const makeQuestion = component("convoke-question", (element, { send, drafts, may }) => {
	const { settle, tell } = makeCard(element, send);
	let shown = "";
	let submit = () => {};
	on(element, "keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit());

	/** @param {Api.QuestionSet} set */
	function ask({ questionId, questions }) {
		const key = `answer.${questionId}`;
		const kept = drafts.get(key);
		const all = answers.drafts(questions, kept?.answers);
		const progress = h("span.muted", { role: "status" });
		const button = h("button.button.primary", { onclick: () => submit() }, "Send");
		const decline = refusalForm("Decline", (reason) => settle("question:reject", { questionId, reason }));
		const missing = () => questions.filter((question, at) => !answers.isAnswered(question, all[at]));
		const paint = () => {
			const { length } = missing();
			button.disabled = length > 0;
			if (questions.length > 1) setText(progress, `${questions.length - length} of ${questions.length} answered`);
		};
		const changed = () => {
			paint();
			drafts.set(key, { answers: all, reason: decline.box.value });
		};
		submit = () => {
			const [first] = missing();
			if (first) part(groups[questions.indexOf(first)], "input, textarea").focus();
			else settle("question:answer", { questionId, answers: answers.given(questions, all) });
		};
		decline.box.value = kept?.reason ?? "";
		on(decline.box, "input", changed);
		const groups = questions.map((question, at) => group(may(), question, all[at], (draft) => ((all[at] = draft), changed())));
		element.ariaLabel = questions.length > 1 ? `${questions.length} questions` : "Question";
		fill(element, h("div.request-head", icon("question"), element.ariaLabel), ...groups, ...(may() ? [h("div.request-actions", button, decline.button, progress), decline.form] : [h("p.boundary", UNANSWERABLE)]));
		paint();
	}

	return {
		show(set) {
			const { status, questions, questionId, by } = set;
			if (shown === `${status} ${may()}`) return;
			shown = `${status} ${may()}`;
			element.dataset.status = status;
			if (status === "pending") return ask(set);
			const isAnswered = status === "answered";
			const isLate = !isAnswered && status !== "rejected";
			if (!isLate) drafts.set(`answer.${questionId}`, null);
			const lines = isAnswered ? answers.said(set) : [];
			tell(set, {
				outcome: isAnswered ? `${capital(me.who(by) || "You")} answered ${plural(questions.length, "question")}` : by && status === "rejected" ? me.by("Declined", by) : undefined,
				beside: isLate && may() && h("span.late", h("button.link", { onclick: () => ask(set) }, "Answer anyway"), h("button.link", { onclick: () => settle("question:reject", { questionId }) }, "Dismiss")),
				below: !isAnswered ? h("ul.answers", ...questions.map(({ prompt }) => h("li", prompt))) : h("dl.answers", ...questions.flatMap(({ prompt }, at) => [h("dt", prompt), ...(lines[at] ?? []).map((line) => h("dd", line))])),
			});
		},
	};
});

/** The owner begins a sentence; a name stays as it is. */
const capital = (who = "") => who.replace(/^the /, "The ");

/** One question of the set. @param {boolean} canAnswer @param {Api.AskedQuestion} question @param {AnswerDraft} draft @param {(draft: AnswerDraft) => void} onchange */
function group(canAnswer, question, draft, onchange) {
	const { prompt, title, html, options, multiSelect } = question;
	const type = multiSelect ? "checkbox" : "radio";
	const name = `question-${(radioGroups += 1)}`;
	const words = h("div.md.prompt", prompt);
	if (html) setHtml(words, html);
	const become = (/** @type {Partial<AnswerDraft>} */ change) => {
		draft = { ...draft, ...change };
		paint();
		onchange(draft);
	};
	const inputs = options.map(({ label }) => h("input", { type, name, value: label, disabled: !canAnswer, "data-choice": "", onclick: () => become(answers.toggle(question, draft, label)) }));
	const none = h("input", { type, onclick: () => become({ chosen: [], none: none.checked }) });
	const own = h("textarea.field", { rows: 1, placeholder: "Your own answer…", label: `Your own answer: ${title || prompt}`, value: draft.text, oninput: () => become({ text: own.value }) });
	const paint = () => {
		for (const input of inputs) input.checked = draft.chosen.includes(input.value);
		none.checked = draft.none;
	};
	paint();
	return h("div.question", { role: "group", label: prompt }, title && h("div.question-title", title), words,
		h("div.options", ...options.map(({ label, description }, at) => {
			const { text, recommended } = answers.labelOf(label);
			return h("label.option", inputs[at], h("span", text, recommended && h("span.tag", "Recommended"), description && h("span.option-text", description)), at < 9 && h("kbd", { ariaHidden: "true" }, String(at + 1)));
		}), multiSelect && canAnswer && h("label.option.muted", none, "None of these")),
		canAnswer && own);
}
