// Reads something again after frames of the daemon, which come in bursts; only while it is on screen, and one time after
// the other.

const SOON_MS = 150;

/** Returns what asks for it. @param {HTMLElement} element @param {() => Promise<unknown>} read */
export function makeRereading(element, read) {
	let timer = 0;
	let [isStale, isReading] = [false, false];
	function soon() {
		if (!isReading) timer ||= setTimeout(catchUp, SOON_MS);
	}
	async function catchUp() {
		clearTimeout(timer);
		timer = 0;
		if (!isStale || isReading || !element.offsetParent) return;
		[isStale, isReading] = [false, true];
		try {
			await read();
		} finally {
			// An error that `read` does not handle must not end all further reading.
			isReading = false;
			if (isStale) soon();
		}
	}
	document.addEventListener("tab-shown", function shown() {
		// Its tab was closed.
		if (!element.isConnected) return document.removeEventListener("tab-shown", shown);
		catchUp();
	});
	return () => {
		isStale = true;
		soon();
	};
}
