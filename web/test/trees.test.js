// Work trees and comparisons in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { canKeep, conflictText, entryState, needsBase, takesMessage, testText, treeState, wayOf, WAYS } from "../assets/lib/trees.js";

test("c7 every way to finish says what it does, and which branch it is about", () => {
  for (const how of WAYS) {
    const { title, text, action, done } = wayOf(how, "fix", "main");
    for (const words of [title, text, action, done]) assert.ok(words, how);
  }
  assert.match(wayOf("merge", "fix", "main").text, /to main/);
  assert.match(wayOf("keep", "fix", "main").done, /branch fix/);
  assert.match(wayOf("squash", "fix", "").text, /the base branch/);
  assert.deepEqual(WAYS.filter(needsBase), ["merge", "squash", "rebase"]);
  assert.deepEqual(WAYS.filter((how) => !takesMessage(how)), ["discard"]);
});

test("c7 a conflict says what each branch did", () => {
  const of = (base, branch) => conflictText({ path: "a", base, branch }, "fix", "main");
  assert.equal(of("changed", "changed"), "changed in both");
  assert.equal(of("deleted", "changed"), "deleted in main, changed in fix");
  assert.equal(of("changed", "deleted"), "changed in main, deleted in fix");
});

test("c7 what became of a work tree is said in words", () => {
  assert.equal(treeState({ state: "ready", base: "main" }), "In use");
  assert.equal(treeState({ state: "missing" }), "Folder missing");
  assert.equal(treeState({ state: "removed", base: "main", removed: { how: "squash", at: "" } }), "Squashed into main");
  assert.equal(treeState({ state: "removed", removed: { how: "discard", at: "" } }), "Discarded");
});

test("c8 an agent of a comparison works, is done, kept or discarded, and is kept only when none works", () => {
  const entry = (state, session) => ({ state, session });
  assert.deepEqual(entryState(entry("waiting")), ["Needs you", "needs_you"]);
  assert.deepEqual(entryState(entry("ended", { id: "a" }), "a"), ["Kept", "finished"]);
  assert.deepEqual(entryState(entry("ended", { id: "b", worktree: { removed: { how: "discard" } } }), "a"), ["Discarded", "ended"]);
  assert.equal(canKeep({ entries: [entry("ended"), entry("failed")] }), true);
  assert.equal(canKeep({ entries: [entry("ended"), entry("testing")] }), false);
  assert.equal(canKeep({ kept: "a", entries: [entry("ended")] }), false);
});

test("c8 a test passed, failed, or did not end", () => {
  assert.deepEqual([{ exitCode: 0 }, { exitCode: 3 }, {}].map(testText), ["Passed", "Failed (exit code 3)", "Did not end"]);
});
