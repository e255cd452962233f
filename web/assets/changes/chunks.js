// Long lists of rows: only the chunks near the window are filled. The others keep their height.

import { keepingFocus } from "../ui/dom.js";

/** Rows of a chunk: few enough to be filled within a frame. */
const ROWS = 20;
/** How far from the window chunks are filled, and how long that may take in one frame. */
const MARGIN = 1000;
const FRAME_MS = 4;

/** Watches the chunks in a scroller. @param {HTMLElement} scroller @returns {ChunkWatcher} */
export function makeWatcher(scroller) {
	const chunks = /** @type {Map<Element, Chunk>} */ (new Map());
	const wanted = /** @type {Set<Chunk>} */ (new Set());
	let frame = 0;
	const observer = new IntersectionObserver((seen) => {
		for (const { target, isIntersecting } of seen) {
			const chunk = chunks.get(target);
			if (!chunk) continue;
			if (isIntersecting) wanted.add(chunk);
			else {
				wanted.delete(chunk);
				chunk.empty();
			}
		}
		work();
	}, { root: scroller, rootMargin: `${MARGIN}px 0px` });

	/** Fills the chunks that are closest to the window first. */
	function work() {
		frame = 0;
		const { top, height } = scroller.getBoundingClientRect();
		const distance = (/** @type {Chunk} */ { element }) => {
			const box = element.getBoundingClientRect();
			return Math.max(box.top - top - height, top - box.bottom, 0);
		};
		const sorted = [...wanted].map((chunk) => ({ chunk, far: distance(chunk) })).sort((a, b) => a.far - b.far);
		const began = performance.now();
		for (const { chunk, far } of sorted) {
			// Visible chunks are always filled.
			if (far > 0 && performance.now() - began > FRAME_MS) break;
			wanted.delete(chunk);
			chunk.fill();
		}
		if (wanted.size) frame ||= requestAnimationFrame(work);
	}

	return {
		add(chunk) {
			chunks.set(chunk.element, chunk);
			observer.observe(chunk.element);
		},
		drop(chunk) {
			chunks.delete(chunk.element);
			wanted.delete(chunk);
			observer.unobserve(chunk.element);
		},
	};
}

/**
 * Chunks for rows; `estimate` is the height of some rows that were never shown.
 * @param {number} count @param {(from: number, to: number) => HTMLElement[]} make @param {(from: number, to: number) => number} estimate @returns {Chunk[]}
 */
export function chunksOf(count, make, estimate) {
	return Array.from({ length: Math.ceil(count / ROWS) }, (_, at) => {
		const [from, to] = [at * ROWS, Math.min((at + 1) * ROWS, count)];
		const element = document.createElement("div");
		element.className = "chunk";
		element.style.height = `${estimate(from, to)}px`;
		let isFilled = false;
		/** @type {Chunk} */
		const chunk = {
			element, from, to,
			get isFilled() { return isFilled; },
			fill() {
				if (isFilled) return;
				isFilled = true;
				element.style.height = "";
				element.append(...make(from, to));
			},
			empty() {
				// Something that is being written, or has the focus, stays.
				if (!isFilled || element.contains(document.activeElement) || element.querySelector("textarea")) return;
				const { height } = element.getBoundingClientRect();
				// In a hidden panel nothing has a height.
				if (!height) return;
				isFilled = false;
				element.style.height = `${height}px`;
				element.replaceChildren();
			},
			again() {
				if (!isFilled) return;
				keepingFocus(element, () => element.replaceChildren(...make(from, to)));
			},
		};
		return chunk;
	});
}
