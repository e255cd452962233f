import assert from "node:assert/strict";
import { test } from "node:test";
import { colours, pieces } from "../assets/lib/lexer.js";

const named = (path, text) => {
  const lines = text.split("\n");
  return colours(path, text).map((line, at) => line.map(([from, to, name]) => `${name.slice(3)}:${lines[at].slice(from, to)}`));
};

test("p1 code in a diff is coloured by what it is", () => {
  assert.deepEqual(named("src/a.rs", "// why\nlet x: Part = run(\"a\", 'b', 12); // done"), [["comment:// why"], ["keyword:let", "type:Part", "function:run", "string:\"a\"", "string:'b'", "number:12", "comment:// done"]]);
  assert.deepEqual(named("a.py", "def f(x): # note\n    return 'y' if x else None"), [["keyword:def", "function:f", "comment:# note"], ["keyword:return", "string:'y'", "keyword:if", "keyword:else", "constant:None"]]);
  assert.deepEqual(named("run.sh", "echo \"$X\" # hi").flat(), ["keyword:echo", "string:\"$X\"", "comment:# hi"]);
  assert.deepEqual(named("q.sql", "SELECT a -- b").flat(), ["keyword:SELECT", "comment:-- b"]);
  assert.deepEqual(named("a.unknown", "let x = 1"), [[]]);
  assert.deepEqual(named("lifetimes.rs", "fn f<'a>(x: &'a str)").flat(), ["keyword:fn"]);
});

test("p1 what spans lines is coloured on each of them", () => {
  assert.deepEqual(named("a.js", "/* a\n\nb */ x\n`c\nd` true"), [["comment:/* a"], [], ["comment:b */"], ["string:`c"], ["string:d`", "constant:true"]]);
});

test("any text: spans are in order, inside of their lines, and as many lines as it has", () => {
  let seed = 3;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 300; round += 1) {
    const text = Array.from({ length: random(60) }, () => ["\n", "/*", "*/", "\"", "'", "`", "\\", "#", "//", " ", "let", "1", "é😀"][random(13)]).join("");
    const lines = text.split("\n");
    const found = colours(["a.rs", "a.js", "a.py", "a.html"][random(4)], text);
    assert.equal(found.length, lines.length, JSON.stringify(text));
    found.forEach((line, at) => line.reduce((end, [from, to]) => {
      assert.ok(from >= end && to > from && to <= lines[at].length, JSON.stringify(text));
      return to;
    }, 0));
  }
});

test("p1 pieces of a line have their colour and their mark, and lose nothing", () => {
  assert.deepEqual(pieces("let a = 1", [[0, 3, "k"], [8, 9, "n"]], [[2, 5]]), [
    { text: "le", name: "k", isMarked: false }, { text: "t", name: "k", isMarked: true }, { text: " a", name: "", isMarked: true },
    { text: " = ", name: "", isMarked: false }, { text: "1", name: "n", isMarked: false },
  ]);
  assert.deepEqual(pieces("", [], []), []);
});
