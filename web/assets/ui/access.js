// Signing in. A one-time link becomes a cookie and a second secret, and every request carries both: the
// cookie is also sent to servers on other ports of this host, while the secret is in the storage of this origin alone.

import { keep, kept } from "../lib/kept.js";
import { h, setText } from "./dom.js";

const NAME = "browser";
/** Fallback for values that the browser refuses to store. */
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

/** Uses the link in the address bar, if there is one, after removing it from there. */
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
		refusal = "Cannot reach the daemon to use the link.";
	}
}

/** Calls back when another page of this browser was signed in. @param {() => void} action */
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
			h("p.muted", "To sign it in, run in a terminal:"),
			h("pre", "convoke open"),
			h("p.muted", "If that cannot start a browser, ", h("code", "convoke open --print"), " prints a link that works once. Your drafts here are kept.")));
		screen.addEventListener("cancel", (event) => event.preventDefault());
		document.body.append(screen);
		screen.showModal();
	}
	setText(/** @type {HTMLElement} */ (screen.querySelector(".problem")), refusal && `${refusal[0].toUpperCase()}${refusal.slice(1).replace(/\.$/, "")}.`);
}
