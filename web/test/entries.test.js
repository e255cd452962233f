import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makeEntries } from "../assets/lib/entries.js";

const text = (seq, rev, content = "", more = {}) => ({ entryId: `m${seq}`, type: "assistant", seq, rev, content, partial: false, timestamp: "", ...more });
const prompt = (seq, rev, state = "done", content = `p${seq}`) => ({ entryId: `m${seq}`, type: "user", seq, rev, content, state, timestamp: "" });
const queue = (rev, ...contents) => ({ entryId: "queue", type: "queue", seq: 0, rev, prompts: contents.map((content) => ({ id: `q-${content}`, content, timestamp: "" })), timestamp: "" });
const update = (entry) => ({ type: "session:update", rev: entry.rev, entry });
const chunk = (rev, entryId, content) => ({ type: "session:chunk", rev, entryId, content });
const said = (entries) => entries.list.map(({ entryId, content }) => `${entryId}:${content ?? ""}`);
const ids = (entries) => entries.list.map(({ entryId }) => entryId);

function opened(rev, all, more = false) {
  const entries = makeEntries();
  entries.history({ type: "session:history", rev, generation: "g", entries: all, more });
  return entries;
}

test("w2 history replaces, update upserts, chunk appends", () => {
  const entries = opened(2, [text(1, 1, "a"), text(2, 2, "b", { partial: true })]);
  assert.equal(entries.chunk(chunk(3, "m2", "c")), true);
  assert.equal(entries.update(update(text(3, 4, "d"))), "added");
  assert.equal(entries.update(update(text(1, 5, "A"))), "changed");
  assert.deepEqual(said(entries), ["m1:A", "m2:bc", "m3:d"]);
  assert.deepEqual([entries.rev, entries.generation], [5, "g"]);
  entries.history({ rev: 1, generation: "h", entries: [text(9, 1, "z")], more: false });
  assert.deepEqual([said(entries), entries.rev, entries.generation], [["m9:z"], 1, "h"], "a cursor of another generation means nothing");
});

test("entries stand by place, whatever comes first", () => {
  const entries = opened(2, [text(1, 1), text(4, 2)]);
  assert.equal(entries.update(update(text(3, 5))), "added");
  assert.equal(entries.update(update(text(2, 6))), "added");
  assert.deepEqual(ids(entries), ["m1", "m2", "m3", "m4"]);
});

test("an update leaves nothing of the entry before it, and an older one changes nothing", () => {
  const call = (rev, fields) => ({ entryId: "t", type: "tool-call", seq: 1, rev, ...fields });
  const entries = opened(1, [call(1, { status: "running", error: "old" })]);
  entries.update(update(call(3, { status: "complete" })));
  assert.equal(entries.update(update(call(2, { status: "running" }))), "ignored");
  assert.deepEqual(entries.get("t"), call(3, { status: "complete" }));
});

test("words that an entry has already are not appended, nor those of an unknown one", () => {
  const entries = opened(5, [text(1, 5, "a", { partial: true })]);
  const done = [[6, "m1", "b"], [6, "m1", "b"], [5, "m1", "a"], [7, "m7", "?"]].map((fields) => entries.chunk(chunk(...fields)));
  assert.deepEqual(done, [true, false, false, false]);
  assert.deepEqual([said(entries), entries.rev], [["m1:ab"], 7]);
});

test("state is kept beside the conversation, the newest of each kind", () => {
  const usage = (rev, inputTokens) => ({ type: "usage", entryId: "usage", seq: 0, rev, inputTokens });
  const entries = opened(3, [text(1, 1), usage(2, 1), queue(3, "x")]);
  assert.equal(entries.update(update(usage(4, 2))), "state");
  assert.equal(entries.update(update(usage(3, 9))), "ignored");
  assert.equal(entries.state.usage.inputTokens, 2);
  assert.deepEqual(ids(entries), ["m1"]);
});

test("w2 a prompt that waits is in the queue until its turn begins, and then stands below what was said meanwhile", () => {
  const entries = opened(3, [prompt(1, 1, "running"), queue(3, "two", "three")]);
  entries.update(update(text(2, 4, "answer")));
  assert.deepEqual(entries.queue.map(({ content }) => content), ["two", "three"]);
  entries.update(update(prompt(1, 5, "done")));
  entries.update(update(queue(6, "three")));
  assert.equal(entries.update(update(prompt(3, 6, "running", "two"))), "added");
  assert.deepEqual([ids(entries), entries.queue.length, entries.running().entryId], [["m1", "m2", "m3"], 1, "m3"]);
});

test("older pages come in front, and one that brings nothing older ends the search", () => {
  const entries = opened(9, [text(8, 8, "8"), text(9, 9, "9")], true);
  assert.equal(entries.oldest, 8);
  assert.deepEqual(entries.page({ entries: [text(6, 6, "6"), text(7, 7, "7")], more: true }), []);
  assert.deepEqual([said(entries), entries.oldest, entries.more], [["m6:6", "m7:7", "m8:8", "m9:9"], 6, true]);
  entries.page({ entries: [], more: true });
  assert.equal(entries.more, false);
});

test("what is open is there however old it is, and older ones are asked for by the first of the rest", () => {
  const entries = opened(20, [prompt(2, 2, "running"), text(17, 17), text(18, 18)], true);
  assert.equal(entries.oldest, 17);
  entries.update(update(prompt(2, 21, "done")));
  assert.equal(entries.update(update(text(5, 22))), "ignored", "it comes with its page");
  const [changed, ...others] = entries.page({ entries: [prompt(1, 1), prompt(2, 21), text(3, 3), text(16, 16)], more: false });
  assert.deepEqual([changed.entryId, others, ids(entries), entries.oldest], ["m2", [], ["m1", "m2", "m3", "m16", "m17", "m18"], 1]);
});

test("an entry that is missing in the middle does not keep older ones away", () => {
  const entries = opened(9, [text(5, 5), text(6, 6), text(8, 8), text(9, 9)], true);
  assert.equal(entries.oldest, 8);
  entries.page({ entries: [text(5, 5), text(6, 6)], more: true });
  assert.deepEqual([entries.oldest, entries.more], [5, true]);
});

test("what is trimmed can be had again, and what is open stays", () => {
  const permission = (rev, status) => ({ entryId: "r", type: "permission", seq: 4, rev, status });
  const steps = Array.from({ length: 10 }, (_, at) => text(at + 5, at + 5));
  const entries = opened(20, [prompt(1, 1), prompt(2, 2, "running"), { entryId: "plan", type: "plan", seq: 3, rev: 3, steps: [] }, permission(4, "pending"), ...steps]);
  entries.trim(20);
  assert.deepEqual([entries.list.length, entries.more], [14, false]);
  entries.trim(3);
  assert.deepEqual([ids(entries), entries.oldest, entries.more], [["m2", "plan", "r", "m12", "m13", "m14"], 12, true]);
  assert.equal(entries.update(update(permission(21, "answered"))), "changed");
  assert.equal(entries.update(update(text(6, 22))), "ignored");
  entries.page({ entries: [prompt(1, 1), permission(4, "pending"), ...steps.slice(0, 7)], more: false });
  assert.deepEqual(ids(entries), ["m1", "m2", "plan", "r", ...steps.map(({ entryId }) => entryId)]);
  assert.equal(entries.get("r").status, "answered", "what is here is newer");
});

test("what the human said is remembered without repetitions in a row, also what waits", () => {
  const entries = opened(5, [prompt(1, 1, "done", "a"), text(2, 2, "x"), prompt(3, 3, "done", "a"), prompt(4, 4, "done", "b"), prompt(5, 5, "running", "a"), queue(5, "a", "c")]);
  assert.deepEqual(entries.prompts(), ["a", "b", "a", "c"]);
});

// Written by a test of convoke-api, whose reducer ends in the same state.
const recorded = JSON.parse(readFileSync(new URL("../../crates/convoke-api/fixtures/frames.json", import.meta.url), "utf8"));
for (const { name, frames, expected } of recorded) test(`m5 recorded frames: ${name}`, () => {
  const entries = makeEntries();
  for (const frame of frames) {
    const kind = frame.type.replace("session:", "");
    assert.ok(["history", "opened", "page", "update", "chunk", "complete", "cancelled"].includes(kind), frame.type);
    entries[kind]?.(frame);
  }
  const { rev, generation, more, oldest, list, state, queue } = entries;
  const shown = [...list.map(({ entryId }) => entryId), ...queue.map(({ id }) => id)];
  assert.deepEqual({ cursor: { generation, rev }, before: more ? oldest : null, shown, conversation: list, state }, expected);
});

test("p7 in a window that does not reach the end, what comes after it is left out until the session is opened anew", () => {
  const entries = makeEntries();
  entries.history({ type: "session:history", rev: 9, generation: "g", entries: [text(3, 3), text(4, 4), text(5, 5), queue(6, "x")], more: true, newer: true });
  assert.deepEqual([entries.newer, ids(entries), entries.oldest], [true, ["m3", "m4", "m5"], 3]);
  assert.equal(entries.update(update(text(9, 10))), "ignored");
  assert.equal(entries.update(update(text(4, 11, "changed"))), "changed");
  assert.equal(entries.update(update(queue(12, "x", "y"))), "state");
  entries.history({ type: "session:history", rev: 12, generation: "g", entries: [text(8, 8), text(9, 10)], more: true });
  assert.deepEqual([entries.newer, ids(entries)], [false, ["m8", "m9"]]);
});

test("p5 a queue says whether it is held", () => {
  const entries = opened(1, [queue(1, "x")]);
  assert.equal(entries.held, false);
  entries.update(update({ ...queue(2, "x"), held: true }));
  assert.equal(entries.held, true);
});
