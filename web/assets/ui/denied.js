// Covers a page whose browser is not signed in. Loaded when the daemon refuses a request.

import { h, setText } from "./dom.js";
import { styles } from "./styles.js";

// Without it the screen is only less pretty.
styles("denied").catch(() => {});

export function makeDenied() {
	const said = h("p.problem", { role: "alert" });
	const screen = h("dialog.denied.centre", { label: "Not signed in" },
		h("h1", "This browser is not signed in"),
		said,
		h("p.muted", "To sign it in, run in a terminal:"),
		h("pre", "convoke open"),
		h("p.muted", "If that cannot start a browser, ", h("code", "convoke open --print"), " prints a link that works once. Your drafts here are kept."));
	screen.addEventListener("cancel", (event) => event.preventDefault());
	return {
		show(isDenied = true, refusal = "") {
			setText(said, refusal && `${refusal[0].toUpperCase()}${refusal.slice(1).replace(/\.$/, "")}.`);
			if (isDenied === screen.open) return;
			if (!isDenied) return screen.close(), screen.remove();
			document.body.append(screen);
			screen.showModal();
		},
	};
}
