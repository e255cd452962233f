// How a permission can be answered. Names of options and rules come from agents: they are shown as they are, in one line.

import { visibleName } from "./words.js";

/**
 * The answers to a permission. An agent's own “always” is offered only where it offers nothing else: Convoke's rules can
 * be listed and revoked, the agent's cannot.
 * @param {Pick<Api.Permission, "options" | "rules">} permission @returns {Choices}
 */
export function choicesOf({ options, rules = [] }) {
	const of = (effect = "", word = "") => {
		const once = options.filter(({ kind }) => kind === `${effect}_once`);
		const offered = once.length ? once : options.filter(({ kind }) => kind === `${effect}_always`);
		const isPlain = once.length === 1;
		return offered.map(({ optionId, name }) => ({ optionId, label: isPlain ? word : visibleName(name), name: visibleName(name) }));
	};
	const [allow, deny] = [of("allow", "Allow once"), of("reject", "Deny")];
	const canRule = (kind = "") => options.find((option) => option.kind === kind)?.optionId;
	const made = (effect = "", optionId = "") => rules.map(({ label }, rule) => ({ optionId, rule, label: visibleName(`Always ${effect} ${label}`) }));
	const [once, never] = [canRule("allow_once"), canRule("reject_once")];
	return { allow, deny, always: once === undefined ? [] : made("allow", once), never: never === undefined ? [] : made("deny", never) };
}

/** The outcome of a permission, in a word or two. @param {Pick<Api.Permission, "options" | "optionId" | "status">} permission */
export function verdictOf({ options, optionId, status }) {
	const option = options.find((offered) => offered.optionId === optionId);
	if (status === "answered") {
		if (!option) return { isRefused: false, text: "Answered" };
		const isRefused = option.kind.startsWith("reject");
		const isOnly = options.filter(({ kind }) => kind === option.kind).length < 2;
		const word = isRefused ? "Denied" : "Allowed";
		return { isRefused, text: isOnly ? word : `${word}: ${visibleName(option.name)}` };
	}
	const texts = /** @type {Record<string, string>} */ ({ rejected: "Denied", timed_out: "Not answered in time", abandoned: "No longer needed" });
	return { isRefused: true, text: texts[status] ?? "" };
}
