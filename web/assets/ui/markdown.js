// Inserts HTML that the server has rendered and sanitised, without flicker.
// This is the only place where markup is parsed; other text of agents never passes through it.

import { editorLink, pathsIn } from "../lib/paths.js";
import { visible } from "../lib/words.js";
import { copy, h, icon } from "./dom.js";
import { followChildren } from "./follow.js";

/** The targets of paths in text: the project's folder, and the user's editor if it has an address. */
const files = { root: "", editor: "" };

/** Makes paths in text that is shown from now on links to the user's editor. */
export const linkPaths = (root = "", editor = "") => Object.assign(files, { root, editor });

/** Replaces the content of a container, from a block on. @param {Element} container */
export function setHtml(container, html = "", from = 0) {
	const template = h("template");
	template.innerHTML = html;
	const { content } = template;
	// Blocks are indexed, so white space between them must not be a node.
	for (const node of [...content.childNodes]) if (!(node instanceof Element)) node.remove();
	// Code is shown as it is, and copied as it is shown.
	for (const node of textsOf(content)) if (node.parentElement?.closest("pre, code")) node.data = visible(node.data);
	for (const pre of content.querySelectorAll("pre")) {
		const language = /language-(\S+)/.exec(pre.querySelector("code")?.className ?? "")?.[1];
		const button = h("button.icon-button.code-copy", { label: "Copy code", title: "Copy" }, icon("copy"));
		wrap(pre, h("div.code", h("div.code-head", h("span", language), button)));
		pre.tabIndex = 0;
	}
	for (const table of content.querySelectorAll("table")) wrap(table, h("div.table"));
	for (const link of content.querySelectorAll("a")) {
		// Only web and mail addresses are links, and they open in a new tab so that the conversation stays.
		if (!/^(https?|mailto):/i.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
		link.target = "_blank";
		link.rel = "noopener noreferrer";
	}
	if (files.editor) linkFiles(content);
	followChildren(container, content, from);
}

/** Shows output of a terminal: as the server has rendered it with its colours, else as text. @param {Element} element */
export function setOutput(element, text = "", html = "") {
	const template = h("template");
	if (html) template.innerHTML = html;
	else template.content.append(text);
	for (const node of textsOf(template.content)) node.data = visible(node.data);
	followChildren(element, template.content);
}

/** @param {Node} content */
function textsOf(content) {
	const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
	const texts = /** @type {Text[]} */ ([]);
	while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
	return texts;
}

/** Makes names of files links to the editor. @param {DocumentFragment} content */
function linkFiles(content) {
	const link = (/** @type {string} */ text) => {
		const href = editorLink(files.editor, files.root, text);
		// A frame may not open addresses of other programs, the page around it may.
		return href && h("a.file", { href, target: "_top", title: "Open in the editor" });
	};
	for (const code of content.querySelectorAll("code")) {
		const anchor = !code.closest("pre, a") && link(code.textContent);
		if (anchor) wrap(code, anchor);
	}
	for (const text of textsOf(content)) {
		if (text.parentElement?.closest("pre, code, a")) continue;
		for (const [from, to] of pathsIn(text.data).reverse()) {
			const anchor = link(text.data.slice(from, to));
			if (!anchor) continue;
			const found = text.splitText(from);
			found.splitText(to - from);
			wrap(found, anchor);
		}
	}
}

/** @param {ChildNode} element @param {Element} frame */
function wrap(element, frame) {
	element.replaceWith(frame);
	frame.append(element);
}

/** Copies the code whose button was pressed. @param {{target: EventTarget | null}} event */
export async function copyCode({ target }) {
	const button = /** @type {Element} */ (target).closest(".code-copy");
	if (!button) return;
	const done = await copy(button.closest(".code")?.querySelector("pre")?.textContent ?? "");
	const show = (name = "", label = "") => (button.className = `icon-button code-copy ${name}`, button.ariaLabel = label);
	show(done ? "copied" : "failed", done ? "Copied" : "Could not copy");
	setTimeout(() => show("", "Copy code"), 1500);
}
