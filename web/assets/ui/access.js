// How this browser gets in. A one-time link becomes a cookie and a second secret, and every request carries both: the
// cookie also goes to servers on other ports of this host, while the secret lies in the storage of this origin alone.

import { keep, kept } from "../lib/kept.js";
import { h, setText } from "./dom.js";

const NAME = "browser";
/** What the browser would not store lives as long as the page. */
let memory = /** @type {string | null} */ (null);
let refusal = "";

/** The second secret, once this browser is signed in. */
export const secret = () => kept(NAME) ?? memory;

/** Calls the daemon as this browser. @param {Record<string, any>} [options] */
export function call(path = "", options = {}) {
	const own = secret();
	const headers = { ...options.headers, ...(own ? { "x-convoke-browser": own } : {}) };
	return fetch(path, { cache: "no-store", ...options, headers });
}

/** Uses the link in the address bar, if there is one, and takes it out of there first. */
export async function signIn() {
	const link = /^#link=(\w+)$/.exec(location.hash)?.[1];
	if (!link) return;
	history.replaceState(history.state, "", location.pathname + location.search);
	try {
		const response = await call("/api/browser-sessions", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ link }) });
		const body = await response.json();
		refusal = response.ok ? "" : body.detail;
		if (body.secret) keep(NAME, (memory = body.secret));
	} catch {
		refusal = "The daemon did not answer when the link was used.";
	}
}

/** Tells when another page of this browser was signed in. @param {() => void} action */
export function onSignIn(action) {
	addEventListener("storage", ({ key }) => key === `convoke.${NAME}` && action());
	addEventListener("hashchange", () => signIn().then(action));
}

let screen = /** @type {HTMLDialogElement | null} */ (null);

/** Covers the page as long as this browser is not signed in. */
export function showDenied(isDenied = true) {
	if (!isDenied || window.top !== window) {
		screen?.remove();
		screen = null;
		return;
	}
	if (!screen) {
		screen = /** @type {HTMLDialogElement} */ (h("dialog.denied.centre", { label: "Not signed in" },
			h("h1", "This browser is not signed in"),
			h("p.problem", { role: "alert" }),
			h("p.muted", "Convoke shows its page only to browsers that were let in. To let this one in, run in a terminal:"),
			h("pre", "convoke open"),
			h("p.muted", "Where that cannot start a browser, ", h("code", "convoke open --print"), " prints a link that works once. What you have written here is kept.")));
		screen.addEventListener("cancel", (event) => event.preventDefault());
		document.body.append(screen);
		screen.showModal();
	}
	setText(/** @type {HTMLElement} */ (screen.querySelector(".problem")), refusal && `${refusal[0].toUpperCase()}${refusal.slice(1).replace(/\.$/, "")}.`);
}
