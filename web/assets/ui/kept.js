// Small choices of the page that outlive it, where the browser stores anything at all.

/** @returns {string | null} */
export function kept(name = "") {
	try {
		return localStorage.getItem(`convoke.${name}`);
	} catch {
		return null;
	}
}

export function keep(name = "", value = "") {
	try {
		localStorage.setItem(`convoke.${name}`, value);
	} catch {
		// It then starts from the defaults next time.
	}
}
