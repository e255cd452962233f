// Completion of the commands that an agent offers.

/** The beginning of a command at the start of the text, when the caret stands in it. */
export const typedCommand = (text = "", caret = 0) => /^\/(\S*)$/.exec(text.slice(0, caret))?.[1] ?? null;

/** Commands that begin with it, then those that contain it. @param {Command[]} commands */
export function fitting(commands, typed = "") {
	const rank = (/** @type {Command} */ { name }) => name.toLowerCase().indexOf(typed.toLowerCase());
	const fit = commands.filter((command) => rank(command) >= 0);
	return fit.sort((a, b) => Math.min(rank(a), 1) - Math.min(rank(b), 1) || a.name.localeCompare(b.name));
}
