import assert from "node:assert/strict";
import { test } from "node:test";
import { makeEntries } from "../assets/lib/entries.js";

const text = (entryId, seq, content, more = {}) => ({ entryId, type: "assistant", seq, content, partial: true, timestamp: "", ...more });
const history = (seq, entries, more = false) => ({ type: "session:history", seq, entries, more });
const said = (entries) => entries.list.map(({ entryId, content }) => `${entryId}:${content ?? ""}`);

test("w2 history replaces, update upserts, chunk appends", () => {
  const entries = makeEntries();
  entries.history(history(2, [text("m1", 1, "a"), text("m2", 2, "b")]));
  assert.equal(entries.chunk({ seq: 3, entryId: "m2", content: "c" }), "appended");
  assert.equal(entries.update({ seq: 4, entry: text("m4", 4, "d") }), "added");
  assert.equal(entries.update({ seq: 5, entry: text("m1", 1, "A") }), "changed");
  assert.deepEqual(said(entries), ["m1:A", "m2:bc", "m4:d"]);
  assert.equal(entries.seq, 5);
  entries.history(history(9, [text("m9", 9, "z")]));
  assert.deepEqual(said(entries), ["m9:z"]);
});

test("an update leaves nothing of the entry before it", () => {
  const entries = makeEntries();
  entries.history(history(1, [{ entryId: "t", type: "tool-call", seq: 1, status: "running", error: "old" }]));
  entries.update({ seq: 2, entry: { entryId: "t", type: "tool-call", seq: 1, status: "complete" } });
  assert.deepEqual(entries.get("t"), { entryId: "t", type: "tool-call", seq: 1, status: "complete" });
});

test("a chunk that comes twice counts once, and one of an unknown entry is noticed", () => {
  const entries = makeEntries();
  entries.history(history(5, [text("m1", 1, "a")]));
  assert.equal(entries.chunk({ seq: 6, entryId: "m1", content: "b" }), "appended");
  assert.equal(entries.chunk({ seq: 6, entryId: "m1", content: "b" }), "repeated");
  assert.equal(entries.chunk({ seq: 5, entryId: "m1", content: "a" }), "repeated");
  assert.equal(entries.chunk({ seq: 7, entryId: "m7", content: "?" }), "unknown");
  assert.deepEqual(said(entries), ["m1:ab"]);
});

test("how things stand is kept beside the conversation, the newest of each", () => {
  const entries = makeEntries();
  entries.history(history(3, [
    { type: "modes", entryId: "modes", seq: 1, current: "ask", available: [{ id: "ask" }, { id: "auto" }] },
    { type: "usage", entryId: "usage", seq: 2, inputTokens: 1 },
    text("m3", 3, "a"),
  ]));
  assert.equal(entries.update({ seq: 4, entry: { type: "usage", entryId: "usage", seq: 4, inputTokens: 2 } }), "standing");
  entries.update({ seq: 5, entry: { type: "modes", entryId: "modes", seq: 5, current: "auto", available: [] } });
  assert.deepEqual([entries.standing.usage.inputTokens, entries.standing.modes.current, entries.standing.modes.available.length], [2, "auto", 2]);
  assert.deepEqual(said(entries), ["m3:a"]);
});

test("older pages come in front, once, and an empty one ends the search", () => {
  const entries = makeEntries();
  entries.history(history(9, [text("m8", 8, "8"), text("m9", 9, "9")], true));
  assert.equal(entries.oldest, 8);
  const fresh = entries.page({ entries: [text("m6", 6, "6"), text("m7", 7, "7"), text("m8", 8, "old")], more: true });
  assert.deepEqual(fresh.map(({ entryId }) => entryId), ["m6", "m7", "m8"]);
  assert.equal(entries.oldest, 6);
  assert.deepEqual(said(entries), ["m6:6", "m7:7", "m8:8", "m9:9"]);
  assert.equal(entries.more, true);
  entries.page({ entries: [], more: true });
  assert.equal(entries.more, false);
});

test("what is trimmed can be had again", () => {
  const entries = makeEntries();
  entries.history(history(4, [1, 2, 3, 4].map((seq) => text(`m${seq}`, seq, ""))));
  assert.deepEqual(entries.trim(2), ["m1", "m2"]);
  assert.deepEqual([entries.more, entries.oldest, entries.get("m1")], [true, 3, undefined]);
  assert.equal(entries.update({ seq: 5, entry: text("m1", 1, "late") }), "older");
  assert.equal(entries.page({ entries: [text("m1", 1, ""), text("m2", 2, "")], more: false }).length, 2);
  assert.deepEqual(entries.trim(10), []);
});

test("what the human said is remembered without repetitions in a row", () => {
  const entries = makeEntries();
  const user = (seq, content, state = "done") => ({ entryId: `m${seq}`, type: "user", seq, content, state });
  entries.history(history(5, [user(1, "a"), text("m2", 2, "x"), user(3, "a"), user(4, "b"), user(5, "a", "running")]));
  assert.deepEqual(entries.prompts(), ["a", "b", "a"]);
  assert.equal(entries.running().entryId, "m5");
});

test("w2 a prompt that leaves the queue stands below what was said meanwhile", () => {
  const entries = makeEntries();
  const prompt = (entryId, seq, state) => ({ entryId, type: "user", seq, content: entryId, state, timestamp: "" });
  entries.history(history(3, [prompt("m1", 1, "running"), prompt("m2", 2, "queued"), prompt("m3", 3, "queued")]));
  entries.update({ seq: 4, entry: text("m4", 4, "answer") });
  assert.equal(entries.update({ seq: 5, entry: prompt("m1", 1, "done") }), "changed");
  assert.equal(entries.update({ seq: 5, entry: prompt("m2", 5, "running") }), "moved");
  assert.equal(entries.update({ seq: 6, entry: text("m6", 6, "second") }), "added");
  assert.deepEqual(entries.list.map(({ entryId }) => entryId), ["m1", "m3", "m4", "m2", "m6"]);
  assert.equal(entries.running().entryId, "m2");
});

test("what is not over stays when older entries are trimmed, and older ones are asked for by the first that is left", () => {
  const entries = makeEntries();
  const prompt = (entryId, seq, state) => ({ entryId, type: "user", seq, content: entryId, state, timestamp: "" });
  const permission = (status) => ({ entryId: "r1", type: "permission", seq: 4, status, timestamp: "" });
  const steps = Array.from({ length: 10 }, (_, at) => text(`m${at + 10}`, at + 10, ""));
  entries.history(history(20, [prompt("m1", 1, "done"), prompt("m2", 2, "running"), { entryId: "p2", type: "plan", seq: 3, steps: [] }, permission("pending"), prompt("m5", 5, "queued"), ...steps]));
  assert.deepEqual(entries.trim(3), ["m1", ...steps.slice(0, 7).map(({ entryId }) => entryId)]);
  assert.deepEqual(entries.list.map(({ entryId }) => entryId), ["m2", "p2", "r1", "m5", "m17", "m18", "m19"]);
  assert.equal(entries.oldest, 17);
  // The answer tells the old place again.
  assert.equal(entries.update({ seq: 21, entry: permission("answered") }), "changed");
  assert.equal(entries.oldest, 17);
  // Then they stand where they belong.
  const older = entries.page({ entries: [prompt("m1", 1, "done"), prompt("m2", 2, "running"), permission("pending"), ...steps.slice(0, 7)], more: false });
  assert.deepEqual(older.slice(0, 4).map(({ entryId }) => entryId), ["m1", "m2", "r1", "m10"]);
  assert.deepEqual([entries.get("r1").status, entries.oldest], ["answered", 1]);
  assert.deepEqual(entries.list.slice(-6).map(({ entryId }) => entryId), ["m16", "p2", "m5", "m17", "m18", "m19"]);
});
