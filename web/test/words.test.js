import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, fold, lineCount, money, plain, plural, relativeTime, sentence, sessionOfPath, timeAgo, tokens, unmarked, visible, visibleName, windowTitle } from "../assets/lib/words.js";

const NOW = Date.UTC(2026, 0, 31, 12);
const ago = (ms) => new Date(NOW - ms).toISOString();
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

test("w6 relative times are now, 2m, 1h, 2d, 1w", () => {
  const cases = [
    [0, "now"], [59 * SECOND, "now"], [MINUTE, "1m"], [2 * MINUTE + 59 * SECOND, "2m"], [59 * MINUTE, "59m"], [HOUR, "1h"], [HOUR * 23 + 59 * MINUTE, "23h"],
    [DAY, "1d"], [6 * DAY + 23 * HOUR, "6d"], [7 * DAY, "1w"], [15 * DAY, "2w"], [400 * DAY, "57w"], [-HOUR, "now"],
  ];
  assert.deepEqual(cases.map(([ms]) => relativeTime(ago(ms), NOW)), cases.map(([, word]) => word));
  assert.equal(relativeTime("not a time", NOW), "now");
  assert.deepEqual([0, MINUTE, 400 * DAY].map((ms) => timeAgo(ago(ms), NOW)), ["now", "1m ago", "57w ago"]);
});

test("what the daemon says becomes a sentence, and names keep their letters", () => {
  const texts = ["there is no folder /x", "The disk is full.", "server.listen must be an address", "until: 'x' is no date", "run `convoke open`", "Really?"];
  assert.deepEqual(texts.map(sentence), ["There is no folder /x.", "The disk is full.", "server.listen must be an address.", "until: 'x' is no date.", "Run `convoke open`.", "Really?"]);
});

test("lengths of time, tokens and money are short", () => {
  assert.deepEqual([-5, 0, 999, 12_400, 185_000, 3_725_000].map(duration), ["0s", "0s", "0s", "12s", "3m 05s", "1h 02m"]);
  assert.deepEqual([0, 870, 1000, 4210, 9990, 128_400, 999_499, 999_500, 1_540_000].map(tokens), ["0", "870", "1k", "4.2k", "10k", "128k", "999k", "1M", "1.5M"]);
  assert.deepEqual([0, 0.0042, 0.42, 1234.5].map((amount) => money({ amount, currency: "USD" })), ["$0.00", "$0.0042", "$0.42", "$1,234.50"]);
  assert.equal(money({ amount: 3, currency: "<b>" }), "3.00 <b>");
  assert.deepEqual([0, 1, 1200].map((count) => plural(count, "line")), ["0 lines", "1 line", "1,200 lines"]);
});

test("the address of a session names it, whatever is in its id", () => {
  assert.equal(sessionOfPath("/s/codex%3Aa%2Fb%3Ac"), "codex:a/b:c");
  assert.deepEqual(["/", "/s/", "/s/a/b", "/s/%E0%A4%A"].map(sessionOfPath), ["", "", "", ""]);
});

test("p4 the window title shows how many requests are pending, and how many turns failed or finished unseen", () => {
  assert.deepEqual([windowTitle(0), windowTitle(2), windowTitle(0, "Fix it"), windowTitle(1, "Fix it")], ["Convoke", "(2) Convoke", "Fix it · Convoke", "(1) Fix it · Convoke"]);
  assert.deepEqual([windowTitle(0, "Fix it", 1), windowTitle(0, "", 0, 3), windowTitle(2, "Fix it", 1, 3)], ["✕1 Fix it · Convoke", "●3 Convoke", "(2) ✕1 ●3 Fix it · Convoke"]);
});

test("long outputs are folded, and short ones are not", () => {
  const lines = (count) => Array.from({ length: count }, (_, at) => `${at}`).join("\n");
  assert.deepEqual(fold(lines(24)), { shown: lines(24), left: "" });
  assert.deepEqual(fold(`${lines(24)}\n`), { shown: `${lines(24)}\n`, left: "" });
  assert.deepEqual(fold(lines(25)), { shown: lines(12), left: "13 more lines" });
  assert.deepEqual(fold("x".repeat(7000)), { shown: "x".repeat(3000), left: "4,000 more characters" });
  assert.equal(fold(`${"y".repeat(7000)}\n`.repeat(30)).shown.length, 3000);
  assert.deepEqual(fold(""), { shown: "", left: "" });
});

test("what a terminal paints with is taken out", () => {
  assert.equal(plain("\u001b[1;32mok\u001b[0m\r\n\u001b]8;;http://x\u0007link\u001b]8;;\u001b\\ 10%\r100%"), "ok\nlink 10%\n100%");
});

test("lines are counted as they wrap", () => {
  assert.deepEqual(["", "one", "one\ntwo\n", "x".repeat(89), "x".repeat(90), `${"x".repeat(200)}\nend`].map(lineCount), [1, 1, 3, 1, 2, 4]);
});

test("p4 an excerpt has the words of Markdown without its marks", () => {
  const texts = ["## The **cache** is `warm`", "see [the docs](https://example.org/a) and ![a picture](x.png)", "- one\n- *two*\n> three", "a * b and 2*3 and snake_case", "~~gone~~ ```rust"];
  assert.deepEqual(texts.map(unmarked), ["The cache is warm", "see the docs and a picture", "one\ntwo\nthree", "a * b and 2*3 and snake_case", "gone rust"]);
});

test("p1 code shows its control characters, and none shows the text around it in another order", () => {
  assert.equal(visible("rm \u202e-rf\u2069 a\u001b[2J\tb\r\n\u007f"), "rm \ufffd-rf\ufffd a\u241b[2J\tb\r\n\ufffd");
  assert.equal(visibleName("safe\u202etxt\n.exe"), "safe\ufffdtxt\u240a.exe");
  // Marks have no width, and turn the order of what is around them.
  assert.equal(visible("a\u200eb\u200fc\u061cd"), "a\ufffdb\ufffdc\ufffdd");
  assert.equal(visible("שלום, мир, 日本 👩‍👩‍👧"), "שלום, мир, 日本 👩‍👩‍👧");
});
