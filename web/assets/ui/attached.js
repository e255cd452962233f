// Files of a message that was sent: images as such, others by name. A request by the browser itself would lack the
// second secret, so they are loaded here; and they are shown as drawings or images, which never run scripts.

import { bytes } from "../lib/words.js";
import { call } from "./access.js";
import { fill, h, icon } from "./dom.js";
import { dialogs, toastError } from "./parts.js";

/** A picture in a message, in pixels. */
const [WIDTH, HEIGHT] = [160, 120];

/** The bytes of an attachment. @param {Api.Attachment} attachment @returns {Promise<Blob>} */
export async function read({ hash, name }) {
	// The content of a hash never changes.
	const response = await call(`/api/blobs/${hash}`, { cache: "default" }).catch(() => null);
	if (!response) throw { message: "Convoke cannot be reached." };
	if (!response.ok) throw { message: `${name} is not stored any more.` };
	return response.blob();
}

/** A picture that fills a box of this size; `null` if it is no image. @param {Blob} blob */
export async function thumbnail(blob, width = 0, height = 0) {
	const bitmap = await createImageBitmap(blob).catch(() => null);
	if (!bitmap) return null;
	const canvas = h("canvas", { width: width * 2, height: height * 2, ariaHidden: "true" });
	const scale = Math.max(canvas.width / bitmap.width, canvas.height / bitmap.height);
	const [wide, high] = [bitmap.width * scale, bitmap.height * scale];
	canvas.getContext("2d")?.drawImage(bitmap, (canvas.width - wide) / 2, (canvas.height - high) / 2, wide, high);
	bitmap.close();
	return canvas;
}

/** @param {Blob} blob @returns {Promise<string>} */
const dataUrl = (blob) => new Promise((resolve, reject) => {
	const reader = new FileReader();
	reader.onload = () => resolve(String(reader.result));
	reader.onerror = reject;
	reader.readAsDataURL(blob);
});

/** @param {Blob} blob */
function download(blob, name = "") {
	// Of no type that a browser shows.
	const url = URL.createObjectURL(new Blob([blob], { type: "application/octet-stream" }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** @param {Api.Attachment} attachment */
async function open(attachment) {
	const { name, mediaType } = attachment;
	try {
		const blob = await read(attachment);
		if (!mediaType.startsWith("image/")) return download(blob, name);
		const image = h("img", { src: await dataUrl(blob), alt: name });
		dialogs.open(name, () => [image, h("footer", h("button.button", { onclick: () => download(blob, name) }, "Download"))]).classList.add("picture");
	} catch (error) {
		toastError(error);
	}
}

const seen = new IntersectionObserver((all) => {
	for (const { target, isIntersecting } of all) {
		if (!isIntersecting) continue;
		seen.unobserve(target);
		target.dispatchEvent(new Event("seen"));
	}
}, { rootMargin: "400px" });

/** @param {Api.Attachment} attachment */
function view(attachment) {
	const { name, size, mediaType } = attachment;
	const isPicture = mediaType.startsWith("image/");
	const button = h("button.attached-file", { label: `${isPicture ? "Show" : "Download"} ${name} (${bytes(size)})`, title: `${name}, ${bytes(size)}`, onclick: () => open(attachment) },
		icon("file"), h("span.title", name), h("span.muted", bytes(size)));
	const draw = () => read(attachment).then((blob) => thumbnail(blob, WIDTH, HEIGHT)).then((canvas) => {
		if (!canvas) return;
		button.classList.add("picture");
		fill(button, canvas);
	}, () => {});
	if (isPicture) {
		button.addEventListener("seen", draw);
		seen.observe(button);
	}
	return button;
}

/** @param {HTMLElement} parent @param {Api.Attachment[]} attachments */
export function showAttached(parent, attachments) {
	fill(parent, ...attachments.map(view));
}
