// The answers to a set of questions while they are being edited, and when they are complete.

const MARK = /\s*[([]recommended[)\]]\s*/i;

/** @type {AnswersModule} */
export const answers = {
	labelOf(label) {
		const text = label.replace(MARK, " ").trim();
		return text && MARK.test(label) ? { text, recommended: true } : { text: label, recommended: false };
	},
	drafts: (questions, kept) => questions.map(({ options, multiSelect }, at) => {
		const draft = Array.isArray(kept) ? kept[at] : null;
		const offered = options.map(({ label }) => label);
		if (Array.isArray(draft?.chosen) && typeof draft.text === "string") {
			return { ...draft, chosen: offered.filter((label) => draft.chosen.includes(label)) };
		}
		const recommended = offered.filter((label) => answers.labelOf(label).recommended);
		return { chosen: multiSelect ? recommended : recommended.slice(0, 1), text: "", none: false };
	}),
	toggle({ options, multiSelect }, draft, label) {
		const isChosen = draft.chosen.includes(label);
		const others = multiSelect ? draft.chosen : [];
		const wanted = (/** @type {string} */ other) => (other === label ? !isChosen : others.includes(other));
		return { ...draft, chosen: options.map((option) => option.label).filter(wanted), none: false };
	},
	isAnswered: ({ multiSelect }, { chosen, text, none }) => chosen.length > 0 || text.trim() !== "" || (multiSelect && none),
	given: (questions, drafts) => Object.fromEntries(questions.map(({ multiSelect }, at) => {
		const { chosen, text } = drafts[at];
		const choice = multiSelect ? { selectedOptions: chosen } : chosen.length ? { selectedOption: chosen[0] } : {};
		return [at, text.trim() ? { ...choice, customText: text.trim() } : choice];
	})),
	said: (set) => set.questions.map((_, at) => {
		const all = (set.answers ?? []).filter(({ questionIndex }) => questionIndex === at);
		const lines = all.flatMap(({ selectedOptions, selectedOption, customText }) => [
			...(selectedOptions ?? [selectedOption ?? ""]).filter(Boolean).map((label) => answers.labelOf(label).text),
			...(customText ? [`“${customText}”`] : []),
		]);
		return lines.length ? lines : ["No selection"];
	}),
};
