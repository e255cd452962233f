import assert from "node:assert/strict";
import { test } from "node:test";
import { diff } from "../assets/lib/diff.js";

const MARKS = { same: " ", removed: "-", added: "+" };
const shown = (lines) => lines.map(({ kind, text }) => MARKS[kind] + text).join("\n");
const changed = (before, after) => shown(diff.lines(before, after));

test("removed and added lines are distinguished, and the rest stays", () => {
  assert.equal(changed("a\nb\nc\n", "a\nB\nc\nd\n"), " a\n-b\n+B\n c\n+d");
  assert.equal(changed("a\nb\nc\nd\ne", "b\nc\nx\ne"), "-a\n b\n c\n-d\n+x\n e");
  assert.equal(changed("", "a\nb"), "+a\n+b");
  assert.equal(changed(undefined, "a\n"), "+a");
  assert.equal(changed("a\n", ""), "-a");
  assert.equal(changed("same\n", "same\n"), " same");
  assert.equal(changed("", ""), "");
});

test("any two texts: what is kept and removed is the one, what is kept and added the other", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  const text = () => Array.from({ length: random(30) }, () => "abcd"[random(4)]).join("\n");
  for (let round = 0; round < 500; round += 1) {
    const [before, after] = [text(), text()];
    const lines = diff.lines(before, after);
    const only = (...kinds) => lines.filter(({ kind }) => kinds.includes(kind)).map((line) => line.text).join("\n");
    assert.deepEqual([only("same", "removed"), only("same", "added")], [before, after]);
    for (const { kind, text, before: x, after: y } of lines) {
      if (kind !== "added") assert.equal(before.split("\n")[x - 1], text);
      if (kind !== "removed") assert.equal(after.split("\n")[y - 1], text);
    }
  }
});

test("texts that have nothing in common are compared in time", () => {
  const text = (word) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join("\n");
  assert.deepEqual(diff.count(diff.lines(text("a"), text("b"))), { added: 20_000, removed: 20_000 });
});

test("changes come with the lines around them, near ones together", () => {
  const before = Array.from({ length: 40 }, (_, at) => `${at}`);
  const after = before.with(5, "five").with(9, "nine").with(30, "thirty");
  const hunks = diff.hunks(diff.lines(before.join("\n"), after.join("\n")));
  assert.deepEqual(hunks.map((hunk) => [hunk[0].text, hunk.at(-1).text]), [["2", "12"], ["27", "33"]]);
  assert.deepEqual(diff.hunks(diff.lines("a", "a")), []);
});

test("side by side, what was removed stands beside what came in its place", () => {
  const rows = diff.pairs(diff.lines("a\nb\nc\nd\ne", "a\nB\nd\nE\nF"));
  assert.deepEqual(rows.map(({ before, after }) => [before?.text, after?.text]), [["a", "a"], ["b", "B"], ["c", undefined], ["d", "d"], ["e", "E"], [undefined, "F"]]);
});

test("p1 the words in which two lines differ are found, whole characters only", () => {
  const parts = (before, after) => {
    const found = diff.changedParts(before, after);
    return found && [found.before.map((span) => before.slice(...span)), found.after.map((span) => after.slice(...span))];
  };
  assert.deepEqual(parts("let a = 1;", "let a = 22;"), [["1"], ["22"]]);
  assert.deepEqual(parts("const x = '😀';", "const x = '😁';"), [["😀"], ["😁"]]);
  assert.deepEqual(parts("send(url, body).await?;", "send(&url, body).wait?;"), [["await"], ["&", "wait"]]);
  assert.deepEqual(parts("the old long name of it", "the new short name of it"), [["old long"], ["new short"]], "words with a blank between them are one change");
  assert.equal(parts("completely", "different"), null);
  assert.equal(parts("    }", "    match self.put(&url, &part).await {"), null, "indentation is not something in common");
  assert.equal(parts("a ".repeat(2000), "b ".repeat(2000)), null, "very long lines are left alone");
});
