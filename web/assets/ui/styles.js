// Style sheets of modules that are loaded on demand.

import { h } from "./dom.js";

const loaded = /** @type {Map<string, Promise<unknown>>} */ (new Map());

/** Loads a style sheet, once. */
export function styles(name = "") {
	const loading = loaded.get(name) ?? new Promise((resolve, reject) => {
		const fail = () => (link.remove(), loaded.delete(name), reject(new Error(`${name}.css could not be loaded`)));
		const link = h("link", { rel: "stylesheet", href: `/assets/style/${name}.css`, onload: resolve, onerror: fail });
		document.head.append(link);
	});
	loaded.set(name, loading);
	return loading;
}
