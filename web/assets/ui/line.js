// The connection to the daemon that served this page.

import { placeOf } from "../lib/paths.js";
import { LineBroken, makeLine } from "../lib/socket.js";
import { call, onSignIn, secret, showDenied, signIn } from "./access.js";
import { h, setText } from "./dom.js";
import { me } from "./me.js";
import { toastError } from "./parts.js";

export function connect() {
	const line = makeLine({
		open: () => new WebSocket(`${location.origin.replace("http", "ws")}/ws`),
		secret,
		probe: () => call("/api/status").then(({ status }) => (status === 401 ? "denied" : "fine"), () => "unreachable"),
		onphase: (phase) => {
			showDenied(phase === "denied");
			// A frame gets it from its parent page.
			if (phase === "open" && parent === window) me.load();
		},
		now: () => Date.now(),
		random: () => Math.random(),
		later: (action, ms) => setTimeout(action, ms),
		cancel: (timer) => clearTimeout(timer),
	});
	addEventListener("online", line.wake);
	document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && line.wake());
	onSignIn(line.wake);
	addEventListener("click", (event) => {
		const place = event.target instanceof Element && placeOf(event.target.closest("a")?.getAttribute("href") ?? "");
		if (!place) return;
		event.preventDefault();
		line.request("file:open", place).catch(toastError);
	});
	// A refusal may mean that the user's role was changed.
	for (const how of /** @type {const} */ (["request", "query"])) {
		const send = /** @type {any} */ (line[how]);
		line[how] = (/** @type {any[]} */ ...what) => send(...what).catch((/** @type {unknown} */ error) => {
			if (me.name && !(error instanceof LineBroken)) me.load();
			throw error;
		});
	}
	// The page of a viewer has no message box, not even at first.
	return { line, start: () => signIn().then((isNew) => (isNew ? me.load() : undefined)).then(line.start) };
}

/** Shorter interruptions are not shown. */
const CALM_MS = 1500;

/** A strip that shows when the connection is lost. @param {Line} line */
export function lineStatus(line) {
	const text = h("span", { role: "status" });
	const button = h("button.link", { onclick: line.wake }, "Retry now");
	const strip = h("div.line-status", { hidden: true }, h("span.pulse"), text, button);
	setInterval(() => {
		const { phase, since, retryAt = 0 } = line.state;
		strip.hidden = phase === "open" || Date.now() - since < CALM_MS;
		button.hidden = retryAt - Date.now() < 1000;
		setText(text, phase === "denied" ? "This browser is not signed in. Run “convoke open”."
			: "Not connected to Convoke. Reconnecting; your drafts are kept. If it was stopped, “convoke open” starts it again.");
	}, 500);
	return strip;
}
