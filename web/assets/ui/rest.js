// Calls of the REST interface.

import { sentence } from "../lib/words.js";
import { call } from "./access.js";

/** Returns the body of the response; an error has the daemon's message and other fields. @param {any} [body] */
export async function rest(path = "", method = "GET", body) {
	const response = await call(path, { method, ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }) }).catch(() => null);
	if (!response) throw new Error("Cannot reach the daemon.");
	const answer = response.status === 204 ? null : await response.json().catch(() => null);
	if (!response.ok) throw Object.assign(new Error(sentence(answer?.detail ?? `The daemon refused this (${response.status}).`)), { status: response.status, hint: answer?.hint, code: answer?.code, files: answer?.files });
	return answer;
}
