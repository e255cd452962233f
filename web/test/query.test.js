import assert from "node:assert/strict";
import { test } from "node:test";
import { asTyped, makeTypeahead, matching, matchingSessions, parseQuery } from "../assets/lib/query.js";
import { matcherOf } from "../assets/lib/rules.js";

test("p7 filters are told from words", () => {
  assert.deepEqual(parseQuery(" pool  agent:codex until:2026-01-01 fix http://x"), { words: "pool fix http://x", filters: { agent: "codex", until: "2026-01-01" } });
  assert.deepEqual(parseQuery("role:"), { words: "", filters: { role: "" } });
  assert.deepEqual(parseQuery(""), { words: "", filters: {} });
});

test("p7 a word that may not be typed to its end stands for all that begin with it", () => {
  assert.equal(asTyped(" the poo"), "the poo*");
  assert.equal(asTyped("agent:codex größ"), "agent:codex größ*");
  for (const whole of ["the pool ", "po", "keep*", "agent:cod", "src/pool.rs", '"the poo', "until:2026"]) assert.equal(asTyped(whole), whole.trim(), whole);
  assert.equal(asTyped('"the pool" fix'), '"the pool" fix*');
});

test("p7 all words must occur, in any case and order", () => {
  assert.deepEqual(["Fix the pool", "Pool of fixes", "Fix it"].map((title) => matching(title, "pool FIX")), [true, true, false]);
  assert.equal(matching("anything", ""), true);
});

test("p7 sessions are found by title, agent and project, and not by what only messages have", () => {
  const sessions = [{ title: "Fix the pool", cliType: "claude-code", projectId: "a" }, { title: "Fix the tests", cliType: "codex", projectId: "b" }];
  const placeOf = ({ cliType, projectId }) => ({ agent: cliType === "codex" ? "Codex" : "Claude Code", project: projectId === "a" ? "harbour" : "lighthouse" });
  const found = (text) => matchingSessions(sessions, parseQuery(text), placeOf).map(({ title }) => title);
  assert.deepEqual(found("fix"), ["Fix the pool", "Fix the tests"]);
  assert.deepEqual(found("fix agent:claude"), ["Fix the pool"]);
  assert.deepEqual(found("agent:claude-code"), ["Fix the pool"]);
  assert.deepEqual(found("project:light"), ["Fix the tests"]);
  assert.deepEqual(found("fix role:user"), []);
  assert.deepEqual(found("fix order:best"), ["Fix the pool", "Fix the tests"], "an order excludes nothing");
});

test("p7 one search is sent when the typing pauses, and answers to earlier words are dropped", async () => {
  const asked = [];
  const told = [];
  let timer = null;
  const answers = new Map();
  const ask = (text) => (asked.push(text), new Promise((resolve, reject) => answers.set(text, { resolve, reject })));
  const type = makeTypeahead(ask, (answer, error) => told.push(answer ?? error?.message ?? null), { later: (action) => (timer = action), cancel: () => (timer = null) });
  const settled = () => new Promise((done) => setImmediate(done));
  type("p");
  type("po");
  timer();
  type("pool");
  timer();
  assert.deepEqual(asked, ["po", "pool"]);
  answers.get("pool").resolve("newer");
  await settled();
  answers.get("po").resolve("older");
  await settled();
  assert.deepEqual(told, ["newer"]);
  type("broken");
  timer();
  answers.get("broken").reject(new Error("no line"));
  await settled();
  type("");
  assert.deepEqual(told, ["newer", "no line", null]);
  assert.equal(timer, null, "nothing is asked for an empty field");
});

test("p9 a rule's pattern becomes its matcher", () => {
  assert.deepEqual(matcherOf("command", " cargo  test … "), { kind: "command", words: ["cargo", "test"], more: true });
  assert.deepEqual(matcherOf("command", "cargo test ..."), { kind: "command", words: ["cargo", "test"], more: true });
  assert.deepEqual(matcherOf("command", "ls -la"), { kind: "command", words: ["ls", "-la"], more: false });
  assert.deepEqual(matcherOf("edit", "src/**"), { kind: "edit", glob: "src/**" });
  assert.deepEqual(matcherOf("tool", "github/create_issue"), { kind: "tool", server: "github", tool: "create_issue" });
  assert.deepEqual(matcherOf("tool", "search"), { kind: "tool", tool: "search" });
  assert.deepEqual(matcherOf("fetch", "docs.rs"), { kind: "fetch", domain: "docs.rs" });
  assert.deepEqual([matcherOf("command", " "), matcherOf("command", "…"), matcherOf("read", "")], [null, null, null]);
});
