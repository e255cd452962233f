// Signing in. A one-time link becomes a cookie and a second secret, and every request carries both: the
// cookie is also sent to servers on other ports of this host, while the secret is in the storage of this origin alone.

import { keep, kept } from "../lib/kept.js";

const NAME = "browser";
const ID = "browser-id";
/** Fallback for values that the browser refuses to store. */
let memory = /** @type {string | null} */ (null);
let refusal = "";

/** The second secret, once this browser is signed in. */
export const secret = () => kept(NAME) ?? memory;

/** The name of this browser in the list of those that are signed in; browsers that were signed in by an older release do not know theirs. */
export const ownBrowser = () => kept(ID);

/** Calls the daemon as this browser. @param {Record<string, any>} [options] */
export function call(path = "", options = {}) {
	const own = secret();
	const headers = { ...options.headers, ...(own ? { "x-convoke-browser": own } : {}) };
	return fetch(path, { cache: "no-store", ...options, headers });
}

/** Uses the link in the address bar, if there is one, after removing it from there; returns whether it signed this browser in. */
export async function signIn() {
	const link = /^#link=(\w+)$/.exec(location.hash)?.[1];
	if (!link) return false;
	history.replaceState(history.state, "", location.pathname + location.search);
	try {
		const response = await call("/api/browser-sessions", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ link }) });
		const body = await response.json();
		refusal = response.ok ? "" : body.detail;
		if (body.secret) keep(NAME, (memory = body.secret));
		if (body.id) keep(ID, body.id);
		return Boolean(body.secret);
	} catch {
		refusal = "Cannot reach the daemon to use the link.";
		return false;
	}
}

/** Calls back when another page of this browser was signed in. @param {() => void} action */
export function onSignIn(action) {
	addEventListener("storage", ({ key }) => key === `convoke.${NAME}` && action());
	addEventListener("hashchange", () => signIn().then(action));
}

/** Covers the page as long as this browser is not signed in. A frame leaves that to the page around it. */
export function showDenied(isDenied = true) {
	if (window.top !== window || (!isDenied && !screen)) return;
	screen ??= import("./denied.js").then(({ makeDenied }) => makeDenied());
	screen.then(({ show }) => show(isDenied, refusal), () => (screen = null));
}

let screen = /** @type {Promise<{ show(isDenied: boolean, refusal: string): void }> | null} */ (null);
