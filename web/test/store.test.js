import assert from "node:assert/strict";
import { test } from "node:test";
import { arrived, makeStore } from "../assets/lib/store.js";

const project = (id) => ({ id, name: id, path: `/${id}`, addedAt: "" });
const session = (uid, more = {}) => ({ id: `demo:${uid}`, uid, projectId: "p", cliType: "demo", title: uid, lastActiveAt: "2026-01-01", archived: false, activity: "idle", status: "active", acceptsPrompts: true, ...more });
const uids = (store, projectId = "p") => store.sessionsOf(projectId).map(({ uid }) => uid);

function filled() {
  const store = makeStore();
  store.apply({ type: "project:list", projects: [project("p"), project("q")] });
  store.apply({ type: "session:list", projectId: "p", sessions: [session("a", { lastActiveAt: "2026-01-01" }), session("b", { lastActiveAt: "2026-01-03" })] });
  return store;
}

test("w6 sessions are listed by project, last active first", () => {
  const store = filled();
  assert.deepEqual(uids(store), ["b", "a"]);
  store.apply({ type: "session:changed", session: session("a", { lastActiveAt: "2026-01-04" }) });
  assert.deepEqual(uids(store), ["a", "b"]);
  assert.deepEqual([store.listed.has("p"), store.listed.has("q")], [true, false]);
});

test("w9 archiving hides, bringing back shows, a new title replaces the old one", () => {
  const store = filled();
  assert.equal(store.apply({ type: "session:archived", sessionId: "demo:a" }), true);
  assert.deepEqual(uids(store), ["b"]);
  store.apply({ type: "session:unarchived", sessionId: "demo:a", session: session("a") });
  store.apply({ type: "session:title-updated", sessionId: "demo:a", uid: "a", title: "new" });
  store.apply({ type: "session:title-updated", sessionId: "demo:nobody", title: "new" });
  assert.equal(store.sessions.get("a").title, "new");
  store.apply({ type: "session:changed", session: session("a", { archived: true }) });
  assert.deepEqual(uids(store), ["b"]);
});

test("a session that was deleted for good is gone", () => {
  const store = filled();
  assert.equal(store.apply({ type: "session:erased", sessionId: "demo:a", uid: "a" }), true);
  assert.deepEqual(uids(store), ["b"]);
});

test("w1 a session is found by every canonical id it ever had", () => {
  const store = filled();
  store.apply({ type: "session:changed", session: session("a", { id: "demo:next:with:colons" }) });
  assert.deepEqual([store.uidOf({ sessionId: "demo:a" }), store.uidOf({ sessionId: "demo:next:with:colons" }), store.uidOf({ sessionId: "x", uid: "u" }), store.uidOf({})], ["a", "a", "u", ""]);
});

test("w9 the sessions of a project that is removed stay readable, as those of another folder", () => {
  const store = filled();
  assert.equal(store.apply({ type: "project:removed", projectId: "p" }), true);
  assert.deepEqual([store.projects.length, store.sessions.size, store.listed.size], [1, 2, 0]);
  store.setFolders([project("p"), project("q")]);
  assert.deepEqual([store.folders.map(({ id }) => id), store.folderOf("p").name, uids(store)], [["p"], "p", ["b", "a"]]);
  store.apply({ type: "project:added", project: project("q") });
  assert.equal(store.projects.length, 1, "added twice is there once");
});

test("p3 Home lists the newest sessions of all folders, and those of projects stay listed by project", () => {
  const store = filled();
  store.apply({ type: "session:changed", session: session("old", { projectId: "x" }) });
  const nothing = { working: [], finished: [], failed: [] };
  store.apply({ type: "home:list", needsYou: [], ...nothing, recent: [session("b"), session("other", { projectId: "x" })] });
  assert.deepEqual([uids(store), uids(store, "x")], [["b", "a"].sort(), ["other"]]);
});

test("w6 installed agents come first, and an unknown one has a name all the same", () => {
  const store = filled();
  store.apply({ type: "agent:list", agents: [{ cliType: "codex", title: "Codex", badge: "CX", installed: false }, { cliType: "demo", title: "Demo", badge: "DM", installed: true }] });
  assert.deepEqual(store.agents.map(({ badge }) => badge), ["DM", "CX"]);
  assert.deepEqual([store.agent("codex").title, store.agent("other")], ["Codex", { badge: "OT", title: "other" }]);
});

test("the inbox is replaced, and what is settled leaves it", () => {
  const store = filled();
  store.apply({ type: "inbox:list", items: [{ id: "1" }, { id: "2" }] });
  const before = store.inbox;
  assert.equal(store.apply({ type: "inbox:settled", id: "1" }), true);
  store.apply({ type: "inbox:list", items: [{ id: "2" }, { id: "3" }] });
  assert.deepEqual(arrived(before, store.inbox), [{ id: "3" }]);
});

test("frames that say nothing about the shell change nothing", () => {
  assert.equal(filled().apply({ type: "session:chunk", uid: "a" }), false);
});
