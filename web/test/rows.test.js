import assert from "node:assert/strict";
import { test } from "node:test";
import { asksHuman, callOf, crashOf, brokenTurn, exitCode, permissionOf, related, rowsOf, runTitle, tail } from "../assets/lib/rows.js";

const call = (seq, kind, more = {}) => ({ entryId: `m${seq}`, type: "tool-call", seq, kind, status: "complete", toolCallId: `t${seq}`, ...more });
const said = (seq, type = "assistant") => ({ entryId: `m${seq}`, type, seq });
const asks = (seq, toolCallId, status = "pending") => ({ entryId: `m${seq}`, type: "permission", seq, toolCallId, status });
const notice = (seq, fields) => ({ entryId: `m${seq}`, type: "notice", seq, ...fields });

test("p8 runs of reads and searches stand together, everything else alone", () => {
  const list = [call(1, "read"), call(2, "search"), call(3, "edit"), call(4, "read"), said(5), call(6, "read"), call(7, "read")];
  assert.deepEqual(rowsOf(list).map((row) => row.map(({ seq }) => seq)), [[1, 2], [3], [4], [5], [6, 7]]);
  assert.deepEqual(rowsOf([]), []);
});

test("p8 a run says what it did, in a line", () => {
  const run = (reads, searches, failed = 0) => runTitle([...Array(reads).fill(call(1, "read")), ...Array(searches).fill(call(1, "search")), ...Array(failed).fill(call(1, "read", { status: "error" }))]);
  assert.deepEqual([run(5, 2), run(1, 1), run(2, 0), run(0, 3), run(1, 0, 1)], ["Read 5 files, searched twice", "Read 1 file, searched once", "Read 2 files", "Searched 3 times", "Read 2 files, 1 failed"]);
});

test("p1 a permission belongs to its call, the nearest of that id", () => {
  const list = [call(1, "execute", { toolCallId: "p" }), asks(2, "p", "answered"), call(3, "execute", { toolCallId: "p" }), asks(4, "p"), asks(5, "x"), asks(6, "later"), call(7, "edit", { toolCallId: "later" })];
  const calls = list.map((entry) => callOf(list, entry)?.seq);
  assert.deepEqual(calls, [undefined, 1, undefined, 3, undefined, 7, undefined]);
  assert.deepEqual([list[0], list[2], list[6]].map((entry) => permissionOf(list, entry)?.seq), [2, 4, 6]);
  assert.deepEqual(related(list, list[3]).map(({ seq }) => seq), [3], "the call looks different once it is answered");
  assert.deepEqual(related(list, list[0]).map(({ seq }) => seq), [2]);
});

test("a call that asks a question waits for its answer, others do not", () => {
  const asking = (status) => ({ entryId: "m3", type: "question", seq: 3, status });
  const [before, call1] = [call(1, "other", { status: "running" }), call(2, "other", { status: "running" })];
  const waits = (...list) => list.filter(({ type }) => type === "tool-call").map((one) => asksHuman(list, one));
  assert.deepEqual(waits(before, call1, asking("pending")), [false, true]);
  assert.deepEqual(waits(before, call1, asking("answered")), [false, false]);
  assert.deepEqual(waits(call(2, "other"), asking("pending")), [false], "it is over");
  const open = asking("pending");
  assert.deepEqual(related([before, call1, open, call(4, "read")], open), [call1], "it looks different once it is answered");
});

test("a crash and the turn that it broke off belong together, other failures do not", () => {
  const crash = notice(3, { event: "process_exited", exitCode: 3 });
  const broke = notice(4, { event: "turn_ended", turn: 1, stopReason: "failed", why: "process_exited" });
  const list = [said(1, "user"), said(2), crash, broke, said(5, "user"), notice(6, { event: "turn_ended", turn: 5, stopReason: "failed", why: "agent_error" })];
  assert.deepEqual([brokenTurn(list, crash)?.turn, crashOf(list, broke)?.seq], [1, 3]);
  assert.deepEqual([crashOf(list, list[5]), brokenTurn(list, list[5])], [undefined, undefined]);
  assert.equal(brokenTurn([said(1, "user"), crash, said(5, "user")], crash), undefined, "a process that ended between turns broke none off");
});

test("p8 the exit code of a failed command is found in what agents say", () => {
  const of = (error, status = "error") => exitCode({ status, error });
  assert.deepEqual(["Exit code 101\nerror: test failed", "boom\nexited with code 2", '{"exit_code": 7}', "Command failed with exit status: 127", "exit code: -1"].map((text) => of(text)), [101, 2, 7, 127, -1]);
  assert.deepEqual([of("no such file"), of("Exit code 1", "complete"), of(undefined), of("the exit is to the left 5 metres")], [undefined, undefined, undefined, undefined]);
});

test("p8 of a long output the end is shown", () => {
  assert.equal(tail("a\nb\nc\n\n", 2), "b\nc");
  assert.equal(tail("", 2), "");
});
