// Notifications of the browser: enabled by the user, and only shown while the page is hidden.

import { keep, kept } from "../lib/kept.js";
import { fill, h, icon } from "../ui/dom.js";

const permission = () => ("Notification" in window ? Notification.permission : "denied");

/** Whether the user asked for notifications and the browser allows them. */
const notifies = () => permission() === "granted" && kept("notify") === "on";

/** A button that turns them on and off. */
export function makeNotify() {
	const toggle = async () => {
		const isOn = !notifies();
		if (isOn) await Notification.requestPermission();
		keep("notify", isOn ? "on" : "off");
		paint();
	};
	const button = h("button.link.notify", { onclick: toggle });
	const paint = () => {
		button.hidden = permission() === "denied";
		button.ariaPressed = String(notifies());
		fill(button, icon("bell"), notifies() ? "Notifications on" : "Notify me");
	};
	paint();
	return button;
}

/** Shows a notification, unless the page is visible. @param {string} body @param {string} tag @param {() => void} onopen */
export function notify(title = "", body, tag, onopen) {
	if (!notifies() || document.visibilityState === "visible") return;
	const note = new Notification(title, { body, tag, icon: "/assets/icon.svg" });
	note.onclick = () => {
		window.focus();
		note.close();
		onopen();
	};
}
