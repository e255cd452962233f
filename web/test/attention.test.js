import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { failureOf, gravest, groupsOf, iconFor, idleLongest, markOf, MARKS } from "../assets/lib/attention.js";

const session = (uid, attention, more = {}) => ({ uid, title: uid, attention, unseen: false, lastActiveAt: "2026-01-01", ...more });
const store = (sessions, inbox = []) => ({ sessions: new Map(sessions.map((one) => [one.uid, one])), inbox });
const uids = (sessions) => sessions.map(({ uid }) => uid).join(" ");

test("p4 a mark says what deserves a look: what ended unseen is finished, and what works or waits is not", () => {
  const cases = [
    ["idle", false, "idle"], ["idle", true, "finished"], ["ended", false, "ended"], ["ended", true, "finished"], ["failed", true, "failed"],
    ["failed", false, "failed"], ["working", true, "working"], ["needs_you", true, "needs_you"],
  ];
  assert.deepEqual(cases.map(([attention, unseen]) => markOf({ attention, unseen })), cases.map(([, , mark]) => mark));
  assert.ok(cases.every(([, , mark]) => MARKS[mark]));
});

test("p4 a folded project shows the gravest of its sessions, and none when all are seen", () => {
  const seen = session("a", "failed");
  const all = [session("b", "idle", { unseen: true }), session("c", "working"), session("d", "failed", { unseen: true }), session("e", "needs_you")];
  assert.equal(gravest([seen, session("i", "idle"), session("x", "ended")]), undefined);
  assert.deepEqual(all.map((_, at) => gravest([seen, ...all.slice(0, at + 1)])), ["finished", "working", "failed", "needs_you"]);
});

test("p3 Home groups sessions: working, finished unseen, failed unseen, and the rest as recent, newest first", () => {
  const groups = groupsOf(store([
    session("w1", "working", { lastActiveAt: "2026-01-01" }), session("w2", "working", { lastActiveAt: "2026-01-02", unseen: true }),
    session("f", "idle", { unseen: true }), session("e", "ended", { unseen: true, lastActiveAt: "2026-01-05" }), session("x", "failed", { unseen: true }), session("old", "failed"),
    session("r", "idle", { lastActiveAt: "2026-01-09" }), session("n", "needs_you"),
  ], [{ id: "first", status: "pending" }, { id: "gone", status: "abandoned" }, { id: "second", status: "pending" }, { id: "late", status: "timed_out" }]));
  assert.deepEqual([groups.working, groups.finished, groups.failed, groups.recent].map(uids), ["w2 w1", "e f", "x", "r old"]);
  assert.deepEqual(groups.needsYou.map(({ id }) => id), ["first", "second"], "a request that arrives does not move those that are there");
  assert.deepEqual(groups.left.map(({ id }) => id), ["gone", "late"], "what nobody waits for is not counted");
});

test("the session that makes room is the one that was idle longest, and neither works nor asks", () => {
  const of = (uid, attention, day, more = {}) => session(uid, attention, { status: "active", lastActiveAt: `2026-01-0${day}`, ...more });
  const all = [of("w", "working", 1), of("n", "needs_you", 2), of("done", "ended", 1, { status: "completed" }), of("late", "idle", 5), of("first", "failed", 3), of("next", "idle", 4)];
  assert.equal(idleLongest(all).uid, "first");
  assert.equal(idleLongest(all.slice(0, 3)), undefined);
});

test("p3 a failure is a sentence and the last output of the agent", () => {
  assert.deepEqual(failureOf({ why: "process_exited", detail: "the agent's process ended: exit code 3, last output: one\ntwo\n" }), { reason: "The agent's process ended: exit code 3", output: "one\ntwo" });
  assert.deepEqual(failureOf({ why: "interrupted", detail: "" }), { reason: "Convoke was restarted while the agent worked", output: "" });
  assert.deepEqual(failureOf({ why: "agent_error", detail: "no credit" }), { reason: "The agent reported an error: no credit", output: "" });
  assert.deepEqual(failureOf({ why: "agent_error", detail: "no credit\nsee the bill" }), { reason: "The agent reported an error", output: "no credit\nsee the bill" });
  assert.deepEqual(failureOf({ why: "interrupted", detail: "Convoke stopped during the turn" }), { reason: "Convoke was restarted while the agent worked", output: "" });
  assert.deepEqual(failureOf(undefined), { reason: "The turn failed", output: "" });
});

test("p3 at most eight sessions are shown as recent", () => {
  const many = Array.from({ length: 20 }, (_, at) => session(`s${at}`, "idle"));
  assert.equal(groupsOf(store(many)).recent.length, 8);
});

test("p4 the icon differs by what deserves a look, and is an image that the page may show", () => {
  const icons = ["", "needs_you", "failed", "finished"].map(iconFor);
  assert.equal(new Set(icons).size, 4);
  assert.equal(icons[0], "/assets/icon.svg");
  assert.ok(icons.slice(1).every((address) => address.startsWith("data:image/svg+xml,") && decodeURIComponent(address).endsWith("</svg>")));
});

/** The relative luminance of a colour, as WCAG defines it. */
function luminance(hex) {
  const wide = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  const [red, green, blue] = wide.map((pair) => parseInt(pair, 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("p4 marks have a contrast of at least 3:1 on the backgrounds that they stand on, in both themes", () => {
  const css = readFileSync(new URL("../assets/style/base.css", import.meta.url), "utf8");
  const colours = Object.fromEntries([...css.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, light, dark]) => [name, [light, dark]]));
  const poor = [];
  for (const mark of Object.keys(MARKS)) for (const ground of ["bg", "bg-side", "bg-raised", "bg-sunk"]) for (const theme of [0, 1]) {
    const [one, other] = [colours[`mark-${mark}`][theme], colours[ground][theme]].map(luminance);
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    // Hovered and pressed rows are darker or lighter by up to a tenth.
    if (contrast < 3.4) poor.push(`${mark} on ${ground}: ${contrast.toFixed(2)}`);
  }
  assert.deepEqual(poor, []);
});
