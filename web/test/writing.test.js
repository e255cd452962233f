import assert from "node:assert/strict";
import { test } from "node:test";
import { isSend, isTyping, shellAction } from "../assets/lib/keys.js";
import { makeOutbox } from "../assets/lib/writing.js";
import { makeRecall } from "../assets/lib/writing.js";
import { fitting, typedCommand } from "../assets/lib/writing.js";

const press = (key, more = {}) => ({ key, code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
const alt = (letter, key = letter.toLowerCase()) => press(key, { code: `Key${letter}`, altKey: true });

test("shortcuts never fire while one types, but for those with a modifier", () => {
  assert.deepEqual(shellAction(press("?"), false), { action: "help" });
  assert.equal(shellAction(press("?"), true), null);
  assert.equal(shellAction(press("n"), false), null);
  assert.deepEqual(shellAction(alt("N"), true), { action: "new-session" });
  assert.deepEqual(shellAction(alt("I", "ˆ"), true), { action: "inbox" }, "where Alt makes another character");
  assert.deepEqual([press("k", { ctrlKey: true }), press("K", { metaKey: true })].map((it) => shellAction(it, true)), [{ action: "find" }, { action: "find" }]);
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

const user = (seq, content) => ({ entryId: `m${seq}`, type: "user", seq, content, state: "running", timestamp: "" });

test("a message is shown as being sent until its entry is there, whichever comes first", () => {
  const outbox = makeOutbox();
  const first = outbox.post("hello", 3);
  outbox.sent(first, 4, []);
  assert.equal(outbox.letters.length, 1);
  outbox.arrived(user(4, "hello"));
  assert.equal(outbox.letters.length, 0);
  const second = outbox.post("hello", 4);
  outbox.sent(second, 5, [user(5, "hello")]);
  assert.equal(outbox.letters.length, 0);
});

test("an older message with the same words is not taken for it", () => {
  const outbox = makeOutbox();
  outbox.post("yes", 7);
  outbox.arrived(user(5, "yes"));
  assert.equal(outbox.letters.length, 1);
  outbox.arrived(user(8, "yes"));
  assert.equal(outbox.letters.length, 0);
});

test("after a break what arrived is known, and what did not is given back", () => {
  const outbox = makeOutbox();
  const [arrived, lost] = [outbox.post("arrived", 1), outbox.post("lost", 1)];
  arrived.state = lost.state = "unsure";
  outbox.arrived(user(2, "arrived"));
  assert.deepEqual(outbox.caughtUp(), ["lost"]);
  assert.deepEqual(outbox.letters, []);
});
