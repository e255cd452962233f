// Files for a message: picked, pasted or dropped. The module that uploads them is loaded with the first one.

import { h, iconButton, on } from "./dom.js";
import { toast } from "./parts.js";
import { styles } from "./styles.js";

/** @param {AttachOptions} options @returns {Attach} */
export function makeAttach({ frame, box, drafts, onchange }) {
	const element = h("ul.tray", { label: "Attachments", hidden: true });
	const input = h("input", { type: "file", multiple: true, onchange: () => (add([...(input.files ?? [])]), (input.value = "")) });
	const button = iconButton("attach", "Attach files", () => input.click());
	const root = document.documentElement;
	let tray = /** @type {Tray | null} */ (null);
	let loading = 0;
	let key = "";

	function changed() {
		const stored = tray?.stored ?? [];
		if (key && tray) drafts.set(key, stored.length ? stored : null);
		element.hidden = !tray?.count;
		onchange();
	}

	/** @param {(tray: Tray) => void} run */
	async function withTray(run) {
		loading += 1;
		onchange();
		try {
			const [{ makeTray }] = await Promise.all([import("./tray.js"), styles("tray")]);
			tray ??= makeTray(element, { changed, leave: () => box.focus() });
			run(tray);
		} catch {
			toast("Convoke cannot be reached. Attach the files again once it can.");
		}
		loading -= 1;
		changed();
	}

	/** @param {File[]} files */
	const add = (files) => files.length && withTray((tray) => tray.add(files));
	const canTake = () => !box.disabled && box.checkVisibility();
	/** @param {DragEvent} event */
	const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files") === true;

	on(box, "paste", (event) => {
		const { files, types } = /** @type {DataTransfer} */ (event.clipboardData);
		// A copied table or paragraph also comes as a picture of itself.
		if (!files.length || (types.includes("text/plain") && types.includes("text/html"))) return;
		event.preventDefault();
		add([...files]);
	});
	// Anywhere in the window: a file that misses the box must not replace the page.
	on(root, "dragover", (event) => {
		if (!hasFiles(event)) return;
		event.preventDefault();
		/** @type {DataTransfer} */ (event.dataTransfer).dropEffect = canTake() ? "copy" : "none";
		frame.classList.toggle("dropping", canTake());
	});
	on(root, "dragleave", (event) => event.relatedTarget || frame.classList.remove("dropping"));
	on(root, "drop", (event) => {
		if (!hasFiles(event)) return;
		event.preventDefault();
		frame.classList.remove("dropping");
		if (!canTake()) return;
		const { items, files } = /** @type {DataTransfer} */ (event.dataTransfer);
		const isFolder = [...items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry()?.isDirectory === true);
		if (isFolder.includes(true)) toast("Folders cannot be attached. Mention one of the project with @.");
		add([...files].filter((_, at) => !isFolder[at]));
		box.focus();
	});

	return {
		element,
		button,
		get isEmpty() { return !loading && !tray?.count; },
		get isReady() { return !loading && (tray?.isReady ?? true); },
		get stored() { return tray?.stored ?? []; },
		take() {
			const { stored } = this;
			tray?.clear();
			return stored;
		},
		put: (attachments) => void (attachments?.length && withTray((tray) => tray.put(attachments))),
		restore(name) {
			key = `${name}.attachments`;
			this.put(drafts.get(key));
		},
		wake: () => tray?.retry(),
	};
}
