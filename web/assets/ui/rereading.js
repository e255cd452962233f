// Reads something again after frames of the daemon, which come in bursts; and only while it is on screen.

const SOON_MS = 150;

/** Returns what asks for it. @param {HTMLElement} element @param {() => unknown} read */
export function makeRereading(element, read) {
	let timer = 0;
	let isStale = false;
	function catchUp() {
		timer = 0;
		if (!isStale || !element.offsetParent) return;
		isStale = false;
		read();
	}
	// The size changes when its tab is shown.
	new ResizeObserver(catchUp).observe(element);
	return () => {
		isStale = true;
		timer ||= setTimeout(catchUp, SOON_MS);
	};
}
