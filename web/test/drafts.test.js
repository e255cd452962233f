import assert from "node:assert/strict";
import { test } from "node:test";
import { makeDrafts } from "../assets/lib/kept.js";

/** A browser's store, which may be full. */
function storage({ room = Infinity } = {}) {
  const kept = new Map();
  return {
    kept,
    get length() { return kept.size; },
    key: (at) => [...kept.keys()][at] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    removeItem: (key) => kept.delete(key),
    setItem(key, value) {
      if (kept.size >= room) throw new Error("full");
      kept.set(key, value);
    },
  };
}

test("drafts are kept by name, and forgotten when they are empty", () => {
  const store = storage();
  const drafts = makeDrafts(store, () => 1);
  drafts.set("message.a", "hello");
  drafts.set("answer.b", { chosen: ["x"] });
  assert.deepEqual([makeDrafts(store, () => 2).get("message.a"), drafts.get("answer.b"), drafts.get("none")], ["hello", { chosen: ["x"] }, undefined]);
  drafts.set("message.a", "");
  drafts.set("answer.b", null);
  assert.equal(store.kept.size, 0);
});

test("what the browser would not store lives as long as the page", () => {
  const drafts = makeDrafts(storage({ room: 0 }), () => 1);
  drafts.set("message.a", "hello");
  assert.equal(drafts.get("message.a"), "hello");
  const refusing = new Proxy({}, { get() { throw new Error("no store"); } });
  const without = makeDrafts(refusing, () => 1);
  without.set("message.a", "hello");
  without.prune();
  assert.equal(without.get("message.a"), "hello");
});

test("old drafts and too many of them are dropped, the oldest first", () => {
  const store = storage();
  let now = 0;
  const drafts = makeDrafts(store, () => now);
  store.setItem("other", "not ours");
  store.setItem("convoke.draft.broken", "{");
  drafts.set("old", "x");
  now = 100 * 86_400_000;
  for (let number = 0; number < 210; number += 1) {
    now += 1;
    drafts.set(`d${number}`, "x");
  }
  drafts.prune();
  assert.equal(store.kept.size, 201);
  assert.deepEqual([drafts.get("old"), drafts.get("d9"), drafts.get("d10"), store.getItem("other")], [undefined, undefined, "x", "not ours"]);
});
