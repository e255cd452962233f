// What other programs keep, in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { foundText, isOffered, listed, progressOf, resultText } from "../assets/lib/histories.js";

const agent = (name, found, imported = 0, followed = false) => ({ source: name.toLowerCase(), name, found, imported, followed });
const source = (fields) => ({ source: "claude", name: "Claude Code", total: 0, done: 0, added: 0, grown: 0, rewritten: 0, skipped: 0, messages: 0, brokenLines: 0, unknownLines: 0, failed: 0, ...fields });

test("h8 what was found is said as a sentence, most first, without what is here already", () => {
  assert.equal(foundText([agent("Codex", 57), agent("Claude Code", 1412), agent("goose", 3, 3)]), "1,412 conversations of Claude Code and 57 of Codex were found on this machine.");
  assert.equal(foundText([agent("Codex", 1)]), "1 conversation of Codex was found on this machine.");
  assert.equal(foundText([agent("Codex", 9, 4)]), "5 conversations of Codex were found on this machine.");
  assert.equal(listed(["a", "b", "c"]), "a, b and c");
});

test("h8 an import is offered once: not when something is followed, switched off, or there is nothing", () => {
  const offered = (mode, ...agents) => isOffered({ import: mode, agents, projects: [] });
  assert.equal(offered("ask", agent("Codex", 2)), true);
  assert.equal(offered("never", agent("Codex", 2)), false);
  assert.equal(offered("always", agent("Codex", 2)), false);
  assert.equal(offered("ask", agent("Codex", 2), agent("goose", 4, 1, true)), false);
  assert.equal(offered("ask"), false);
});

test("h8 an import says how far it is, and what came of it", () => {
  const running = { number: 1, running: true, failed: [], sources: [source({ total: 10, done: 10 }), source({ name: "Codex", total: 30, done: 20 })] };
  assert.deepEqual(progressOf(running), { part: 0.75, text: "30 of 40 conversations, reading those of Codex" });
  const ended = (fields) => resultText({ number: 1, running: false, failed: [], sources: [source(fields)] });
  assert.equal(ended({ added: 2, messages: 9 }), "2 conversations imported, with 9 messages.");
  assert.equal(ended({}), "Everything was here already.");
  assert.equal(ended({ added: 3, messages: 22, skipped: 1 }), "3 conversations imported, with 22 messages. 1 conversation was skipped: empty, deleted here, or already a session.");
  assert.equal(ended({ added: 1, messages: 1, failed: 2, brokenLines: 1 }), "1 conversation imported, with 1 message. 2 conversations could not be read. 1 line could not be read and was skipped.");
  assert.equal(resultText({ number: 1, running: false, failed: [], sources: [], error: "the disk is full" }), "The import ended early: the disk is full. Everything was here already.");
});
