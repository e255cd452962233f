import assert from "node:assert/strict";
import { test } from "node:test";
import { makeEntries } from "../assets/lib/entries.js";
import { isSend, isTyping, shellAction } from "../assets/lib/keys.js";
import { fitting, makeOutbox, makeRecall, newId, typedCommand, typedMention, mentioned } from "../assets/lib/writing.js";

const press = (key, more = {}) => ({ key, code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
const alt = (letter, key = letter.toLowerCase()) => press(key, { code: `Key${letter}`, altKey: true });

test("shortcuts never fire while one types, but for those with a modifier", () => {
  assert.deepEqual(shellAction(press("?"), false), { action: "help" });
  assert.equal(shellAction(press("?"), true), null);
  assert.equal(shellAction(press("n"), false), null);
  assert.deepEqual(shellAction(alt("N"), true), { action: "new-session" });
  assert.deepEqual(shellAction(alt("I", "ˆ"), true), { action: "inbox" }, "where Alt makes another character");
  assert.deepEqual([press("k", { ctrlKey: true }), press("K", { metaKey: true })].map((it) => shellAction(it, true)), [{ action: "palette" }, { action: "palette" }]);
  assert.deepEqual(shellAction(press("0", { code: "Digit0", altKey: true }), true), { action: "home" });
  assert.deepEqual(shellAction(press("3", { code: "Digit3", altKey: true }), true), { action: "tab-number", number: 3 });
  assert.deepEqual(shellAction(press("PageUp", { altKey: true, shiftKey: true }), true), { action: "tab-left" });
  assert.equal(shellAction(press("n", { code: "KeyN", altKey: true, ctrlKey: true }), true), null, "that is AltGr");
});

test("typing is what goes into fields, not pressing buttons and boxes", () => {
  const inside = (type) => ({ closest: () => ({ type }) });
  assert.deepEqual([inside("textarea"), inside("text"), inside("radio"), inside("checkbox"), { closest: () => null }, { isContentEditable: true }, null].map(isTyping), [true, true, false, false, false, true, false]);
});

test("enter sends, but not with shift and not while a character is composed", () => {
  const enter = (more) => ({ ...press("Enter"), isComposing: false, keyCode: 13, ...more });
  assert.deepEqual([{}, { shiftKey: true }, { isComposing: true }, { keyCode: 229 }, { key: "a" }].map((more) => isSend(enter(more))), [true, false, false, false, false]);
});

test("what was said before comes back in an empty box, and stays away from what is being written", () => {
  const recall = makeRecall();
  const said = () => ["one", "two"];
  assert.equal(recall.back("half a thought", said), null);
  assert.equal(recall.back("", said), "two");
  assert.equal(recall.back("two", said), "one");
  assert.equal(recall.back("one", said), null);
  assert.equal(recall.forward("one"), "two");
  assert.equal(recall.forward("two"), "");
  assert.equal(recall.back("", said), "two");
  assert.equal(recall.back("two, changed", said), null);
  assert.equal(recall.forward("two, changed"), null);
  assert.equal(makeRecall().back("", () => []), null);
});

test("commands are completed at the beginning only", () => {
  assert.deepEqual([["/", 1], ["/pl", 3], ["/plan now", 9], ["/plan now", 3], ["see /pl", 7], ["", 0]].map(([text, caret]) => typedCommand(text, caret)), ["", "pl", null, "pl", null, null]);
  const names = (typed) => fitting(["review", "plan", "explain"].map((name) => ({ name, description: "" })), typed).map(({ name }) => name);
  assert.deepEqual([names("pl"), names("PLAN"), names("x"), names("")], [["plan", "explain"], ["plan"], ["explain"], ["explain", "plan", "review"]]);
});

test("ids of messages are those of RFC 4122", () => {
  const all = Array.from({ length: 100 }, newId);
  for (const id of all) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(all).size, 100);
});

function conversation(...seqs) {
  const entries = makeEntries();
  entries.history({ rev: 9, generation: "g", entries: seqs.map((seq) => user(`m${seq}`, seq)), more: true });
  return entries;
}
const user = (entryId, seq) => ({ entryId, type: "user", seq, rev: seq, content: "yes", state: "running", timestamp: "" });

test("a message is shown as being sent until the conversation has it, whichever comes first", () => {
  const [outbox, entries] = [makeOutbox(), conversation(1)];
  const first = outbox.post("yes");
  Object.assign(first, { answered: true, seq: 2 });
  assert.deepEqual(outbox.pending(entries), [first], "other messages with the same words are not it");
  entries.update({ rev: 10, entry: user(first.id, 2) });
  assert.deepEqual(outbox.pending(entries), []);
  const second = outbox.post("yes");
  entries.update({ rev: 11, entry: user(second.id, 3) });
  assert.deepEqual(outbox.pending(entries), []);
});

test("a message that waits is in the queue", () => {
  const [outbox, entries] = [makeOutbox(), conversation(1)];
  const { id } = outbox.post("yes");
  entries.update({ rev: 10, entry: { entryId: "queue", type: "queue", seq: 0, rev: 10, prompts: [{ id, content: "yes", timestamp: "" }] } });
  assert.deepEqual(outbox.pending(entries), []);
});

test("a message that is further up than what is loaded is not on its way", () => {
  const outbox = makeOutbox();
  outbox.post("yes").seq = 3;
  assert.deepEqual(outbox.pending(conversation(7, 8)), []);
});

test("after a break what was not answered is sent again under the same id, and nothing else", () => {
  const [outbox, entries] = [makeOutbox(), conversation(1)];
  const [arrived, accepted, lost, refused] = ["arrived", "accepted", "lost", "refused"].map(outbox.post);
  accepted.answered = true;
  outbox.drop(refused);
  entries.update({ rev: 10, entry: user(arrived.id, 2) });
  assert.deepEqual(outbox.unanswered(entries), [lost]);
  assert.deepEqual(outbox.pending(entries), [lost]);
});

test("n4 a message that waits for a machine stays on its way after a break, and is not sent again", () => {
  const [outbox, entries] = [makeOutbox(), conversation(1)];
  const waiting = Object.assign(outbox.post("when you are back"), { answered: true, waitsFor: "workstation" });
  assert.deepEqual(outbox.unanswered(entries), []);
  assert.deepEqual(outbox.pending(entries), [waiting]);
  entries.update({ rev: 10, entry: user(waiting.id, 2) });
  assert.deepEqual(outbox.pending(entries), []);
});

test("l2 a mention is an @ that no word goes before, and counts while its whole path stands in the text", () => {
  const typed = (text) => typedMention(text, text.length);
  assert.deepEqual(["@", "see @src/ma", "a\n@x", "(@x", "me@home", "@a b", "plain"].map(typed), ["", "src/ma", "x", "x", null, null, null]);
  const files = ["src/main.rs", "src/", "a b.txt", "src/main.r"];
  assert.deepEqual(mentioned("see @src/main.rs, and @a b.txt.", files), ["src/main.rs", "a b.txt"]);
  assert.deepEqual(mentioned("@src/ and @src/main.rs.bak", files), ["src/"]);
  assert.deepEqual(mentioned("me@src/main.rs and @src/main.rs.", files), ["src/main.rs"]);
});
