// The WebSocket to the daemon: requests with responses, pushes, and reconnecting.

/** The backoff between attempts grows from the first of these to the second. */
const PAUSE_MIN = 500;
const PAUSE_MAX = 15_000;
/** After this long without a frame a ping is sent, and its pong awaited this long. */
const SILENCE = 20_000;
const PONG_WAIT = 8_000;

/** The code with which the daemon closes the socket of a browser that is not signed in. */
const SIGNED_OUT = 4401;

/** Frames of a conversation, which are never the response to a request. */
const FLOW = ["session:update", "session:chunk", "session:complete"];

/** Why a request failed, for people. */
class RequestError extends Error {
	constructor(message = "", hint = "") {
		super(message);
		this.hint = hint;
	}
}

/** The connection broke before the response arrived: the request may have been carried out. */
export class LineBroken extends RequestError {
	constructor() {
		super("The connection was lost.", "Try again when it is back.");
	}
}

/** @param {World} world @returns {Line} */
export function makeLine(world) {
	let socket = /** @type {WebSocket | null} */ (null);
	const waiting = /** @type {Map<string, Asked>} */ (new Map());
	let requests = 0;
	let attempt = 0;
	let stopped = false;
	let retry = /** @type {any} */ (null);
	let watch = /** @type {any} */ (null);
	let state = /** @type {LineState} */ ({ phase: "connecting", since: world.now() });

	/** @param {LineState["phase"]} phase @param {number} [retryAt] */
	function become(phase, retryAt) {
		const since = (state.phase === "open") === (phase === "open") ? state.since : world.now();
		state = { phase, since, retryAt };
		world.onphase(phase);
		line.onstate(state);
	}

	function connect() {
		retry = null;
		const secret = world.secret();
		if (!secret) return become("denied");
		become(state.phase === "denied" ? "denied" : "connecting");
		const fresh = (socket = world.open());
		let opened = false;
		fresh.onopen = () => {
			fresh.send(JSON.stringify({ type: "browser:auth", secret }));
			watch = world.later(() => giveUp(fresh, opened), PONG_WAIT);
		};
		fresh.onmessage = ({ data }) => {
			listen();
			if (opened) return receive(JSON.parse(data));
			// The first frame means that the secret was accepted.
			opened = true;
			attempt = 0;
			become("open");
		};
		// An error needs no handler: it is always followed by a close event.
		fresh.onclose = ({ code }) => broke(fresh, opened, code);
	}

	/** Closing a dead connection can take minutes, so the close event is not awaited. @param {WebSocket} old */
	function giveUp(old, opened = true) {
		old.close();
		broke(old, opened);
	}

	/** @param {WebSocket} old */
	async function broke(old, opened = true, code = 0) {
		if (old !== socket) return;
		socket = null;
		world.cancel(watch);
		const left = [...waiting.values()];
		waiting.clear();
		for (const { reject } of left) reject(new LineBroken());
		if (stopped) return;
		// Only signing in changes that, which calls `wake`.
		if (code === SIGNED_OUT) return become("denied");
		const pause = Math.min(PAUSE_MAX, PAUSE_MIN * 2 ** attempt) * (0.75 + world.random() / 2);
		attempt += 1;
		retry = world.later(connect, pause);
		become(state.phase === "denied" ? "denied" : "waiting", world.now() + pause);
		if (opened) return;
		const reason = await world.probe();
		if (retry === null) return;
		if (reason !== "denied") return become("waiting", state.retryAt);
		world.cancel(retry);
		retry = null;
		become("denied");
	}

	/** @param {Frame} frame */
	function receive(frame) {
		if (frame.type === "pong") return;
		const asked = waiting.get(frame.requestId ?? "");
		if (!asked || FLOW.includes(frame.type)) return line.onframe(frame);
		waiting.delete(frame.requestId ?? "");
		if (frame.type === "error") return asked.reject(new RequestError(frame.message, frame.hint));
		asked.resolve(frame);
		if (asked.tell) line.onframe(frame);
	}

	/** Any frame shows that the connection works; after a long silence, send a ping. */
	function listen() {
		world.cancel(watch);
		watch = world.later(ask, SILENCE);
	}

	function ask() {
		const asked = socket;
		if (!asked || !line.isOpen) return;
		asked.send('{"type":"ping"}');
		world.cancel(watch);
		watch = world.later(() => giveUp(asked), PONG_WAIT);
	}

	/** @param {RequestType} type @param {object} [fields] @returns {Promise<any>} the frame that answers it */
	async function send(type, fields, tell = true) {
		if (!line.isOpen || !socket) throw new LineBroken();
		const requestId = String((requests += 1));
		socket.send(JSON.stringify({ ...fields, type, requestId }));
		return new Promise((resolve, reject) => waiting.set(requestId, { resolve, reject, tell }));
	}

	/** @type {Line} */
	const line = {
		get state() { return state; },
		get isOpen() { return state.phase === "open"; },
		onframe: () => {},
		onstate: () => {},
		start: connect,
		stop() {
			stopped = true;
			world.cancel(retry);
			socket?.close();
		},
		wake() {
			if (socket) return ask();
			world.cancel(retry);
			attempt = 0;
			connect();
		},
		request: send,
		query: (type, fields) => send(type, fields, false),
	};
	return line;
}
