// The attachments of a message, a chip each: uploaded at once, kept if that fails.

import { attempt } from "../lib/kept.js";
import { bytes, sentence } from "../lib/words.js";
import { secret } from "./access.js";
import { read, thumbnail } from "./attached.js";
import { fill, h, icon, iconButton, keyed, on, part, setText } from "./dom.js";
import { announce } from "./parts.js";

/** The daemon's limits: `POST /api/blobs`, and attachments of one prompt. */
const SIZE_MAX = 32 << 20;
const COUNT_MAX = 16;
/** The picture on a chip, in pixels. */
const THUMB = 36;

/** @param {HTMLElement} element @param {{ changed(): void, leave(): void }} handlers @returns {Tray} */
export function makeTray(element, { changed, leave }) {
	let chips = /** @type {Chip[]} */ ([]);
	let made = 0;

	function paint() {
		keyed(element, chips, ({ id }) => id, make, (line, chip) => {
			const { size, problem, part: done, stored, canRetry } = chip;
			line.classList.toggle("bad", problem !== "");
			setText(part(line, ".chip-note"), problem || bytes(size));
			part(line, "progress").hidden = stored !== undefined || problem !== "";
			/** @type {HTMLProgressElement} */ (part(line, "progress")).value = done;
			part(line, ".retry").hidden = !canRetry;
		});
		changed();
	}

	/** @param {Chip} chip */
	function make(chip) {
		const { name, file, stored } = chip;
		const face = h("span.chip-face", icon("file"));
		const line = h("li.chip-file", { title: name }, face,
			h("span.chip-text", h("span.title", name), h("span.chip-note"), h("progress", { max: 1, label: `Uploading ${name}` })),
			h("button.link.retry", { label: `Retry ${name}`, hidden: true, onclick: () => upload(chip) }, "Retry"),
			iconButton("close", `Remove ${name}`, () => remove(chip), { title: "Remove (Delete)" }));
		on(line, "keydown", (event) => {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			if (step) focusOn(chips.indexOf(chip) + step);
			else if (event.key === "Delete" || event.key === "Backspace") remove(chip);
			else return;
			event.preventDefault();
		});
		if ((file?.type ?? stored?.mediaType)?.startsWith("image/")) {
			Promise.resolve(file ?? read(/** @type {Api.Attachment} */ (stored))).then((blob) => thumbnail(blob, THUMB, THUMB)).then((canvas) => canvas && fill(face, canvas), () => {});
		}
		return line;
	}

	const focusOn = (at = 0) => /** @type {HTMLElement | null | undefined} */ (element.children[at]?.querySelector("button:last-child"))?.focus();

	/** @param {Chip} chip */
	function remove(chip) {
		const at = chips.indexOf(chip);
		chip.request?.abort();
		chips = chips.filter((other) => other !== chip);
		paint();
		announce(`${chip.name} is removed.`);
		if (chips.length) focusOn(Math.min(at, chips.length - 1));
		else leave();
	}

	/** @param {Chip} chip */
	function fail(chip, problem = "", canRetry = false) {
		Object.assign(chip, { problem, canRetry, request: undefined });
		announce(`${chip.name}: ${problem}`);
		paint();
	}

	/** `fetch` reports no progress. @param {Chip} chip */
	function upload(chip) {
		const { file, name } = chip;
		if (!file) return;
		const request = new XMLHttpRequest();
		Object.assign(chip, { request, problem: "", part: 0, canRetry: false });
		request.open("POST", `/api/blobs?name=${encodeURIComponent(name)}`);
		request.setRequestHeader("x-convoke-browser", secret() ?? "");
		request.upload.onprogress = ({ loaded, total }) => ((chip.part = loaded / total), paint());
		request.onload = () => {
			const body = attempt(() => JSON.parse(request.responseText));
			if (request.status !== 201) return fail(chip, sentence(body?.detail ?? `refused with ${request.status}`), request.status >= 500 || request.status === 401);
			chip.stored = body;
			announce(`${name} is attached.`);
			paint();
		};
		// A file that was moved or changed fails as a lost connection does.
		request.onerror = () => file.slice(0, 1).arrayBuffer().then(() => fail(chip, "Not uploaded: Convoke cannot be reached.", true), () => fail(chip, "It cannot be read any more."));
		request.send(file);
		paint();
	}

	/** @param {Partial<Chip> & { name: string, size: number }} fields @returns {Chip} */
	const chipOf = (fields) => ({ id: String((made += 1)), problem: "", part: 0, canRetry: false, ...fields });

	return {
		get count() { return chips.length; },
		get isReady() { return chips.every(({ stored }) => stored); },
		get stored() { return chips.flatMap(({ stored }) => stored ?? []); },
		add(files) {
			for (const file of files) {
				const chip = chipOf({ name: file.name || "attachment", size: file.size, file });
				chips.push(chip);
				if (chips.length > COUNT_MAX) fail(chip, `At most ${COUNT_MAX} files go with a message.`);
				else if (file.size > SIZE_MAX) fail(chip, `Larger than 32 MiB: ${bytes(file.size)}.`);
				else if (file.size === 0) fail(chip, "The file is empty.");
				else upload(chip);
			}
		},
		put(attachments) {
			chips = [...attachments.map((stored) => chipOf({ ...stored, stored })), ...chips];
			paint();
		},
		retry: () => chips.filter(({ canRetry }) => canRetry).forEach(upload),
		clear() {
			chips = [];
			paint();
		},
	};
}
