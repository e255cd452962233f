import assert from "node:assert/strict";
import { test } from "node:test";
import { tabs } from "../assets/lib/tabs.js";

const tab = (uid) => ({ uid, title: uid, projectId: "p" });
const opened = (...uids) => uids.reduce((state, uid) => tabs.open(state, tab(uid)), tabs.read(null));
const order = (state) => state.tabs.map(({ uid }) => (uid === state.active ? `[${uid}]` : uid)).join(" ");

test("w9 a session has one tab, however often it is opened", () => {
  assert.equal(order(opened("a", "b", "a")), "[a] b");
});

test("w9 closing gives way to the tab that was active before", () => {
  const state = tabs.activate(tabs.activate(opened("a", "b", "c"), "a"), "c");
  assert.equal(order(tabs.close(state, "c")), "[a] b");
  assert.equal(order(tabs.close(state, "b")), "a [c]");
  assert.equal(order(tabs.close(tabs.close(tabs.close(state, "c"), "a"), "b")), "");
  assert.equal(tabs.close(state, "x"), state);
});

test("p3 Home is always there: the last tab gives way to it, and closing another tab does not leave it", () => {
  assert.equal(tabs.close(opened("a"), "a").active, null);
  const home = tabs.activate(opened("a", "b"), null);
  assert.deepEqual([order(home), order(tabs.close(home, "b"))], ["a b", "a"]);
  assert.equal(tabs.close(home, "b").active, null);
});

test("tabs are moved to a place, and not beyond the ends", () => {
  const state = opened("a", "b", "c");
  assert.equal(order(tabs.move(state, "a", 2)), "b [c] a");
  assert.equal(order(tabs.move(state, "c", -1)), "[c] a b");
  assert.equal(order(tabs.move(state, "a", 9)), "b [c] a");
  assert.equal(tabs.move(state, "x", 0), state);
});

test("one goes around the ends", () => {
  const state = opened("a", "b", "c");
  assert.deepEqual([1, 2, -1, 4].map((steps) => tabs.neighbour(state, steps)), [null, "a", "b", "c"]);
  assert.equal(tabs.neighbour(tabs.activate(state, "a"), -1), null);
  assert.equal(tabs.neighbour(tabs.activate(state, null), -1), "c");
  assert.equal(tabs.neighbour(opened(), 1), null);
});

test("w9 a title changes in place", () => {
  assert.equal(tabs.rename(opened("a", "b"), "a", "new").tabs[0].title, "new");
});

test("stored tabs are read as far as they are whole", () => {
  const state = opened("a", "b");
  assert.deepEqual(tabs.read(JSON.stringify(state)), state);
  const broken = { tabs: [tab("a"), { uid: 7 }, null, tab("b")], active: "gone", recent: ["b", "gone", 3] };
  assert.deepEqual(tabs.read(JSON.stringify(broken)), { tabs: [tab("a"), tab("b")], active: null, recent: ["b"] });
  for (const text of [null, "", "{", "[]", "7", '{"tabs":7}']) assert.deepEqual(tabs.read(text), { tabs: [], active: null, recent: [] });
});
