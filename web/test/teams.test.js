// The figures of the dashboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asker, busiest, life, lives, matrix, pairName, spent, spoken, sum, timeline } from "../assets/teams/figures.js";

const HOUR = 3_600_000;
const at = (hours) => new Date(Date.UTC(2026, 10, 15) + hours * HOUR).toISOString();
const said = (fromTeam, toTeam, prompts, start = 0, more = {}) => ({ fromTeam, toTeam, thread: null, start: at(start), prompts, failures: 0, compactions: 0, ...more });

test("t16 a pair is named by who asks whom", () => {
	assert.equal(pairName(said(null, "b", 1)), "outside → b");
	assert.equal(pairName({ ...said("a", "b", 1), thread: "api" }), "a → b #api");
	assert.equal(asker(null), "outside");
});

test("t16 the matrix has a row for every possible asker, and for removed teams", () => {
	const { askers, answerers, rows, most } = matrix([said(null, "b", 2), said("a", "b", 3), said("a", "b", 4, 1), said("gone", "a", 1)], ["a", "b"]);
	assert.deepEqual(askers, [null, "a", "b", "gone"]);
	assert.deepEqual(answerers, ["a", "b"]);
	assert.deepEqual(rows, [[0, 2], [0, 7], [0, 0], [1, 0]]);
	assert.equal(most, 7);
	assert.equal(matrix([], []).most, 0);
});

test("t16 the timeline includes intervals without activity", () => {
	const bars = timeline([said("a", "b", 3, 1), said(null, "b", 1, 1, { failures: 1 }), said("a", "b", 2, 3)], at(0.5), "hour", Date.parse(at(4)));
	assert.deepEqual(bars.map(({ prompts }) => prompts), [0, 4, 0, 2, 0]);
	assert.deepEqual(bars.map(({ failures }) => failures), [0, 1, 0, 0, 0]);
});

test("t16 the busiest pairs come first and silent ones not at all", () => {
	const activity = [said("a", "b", 1), said("b", "a", 5), said("c", "a", 5, 1), said("a", "b", 2, 1), said("a", "c", 0)];
	assert.deepEqual(busiest(activity, 2), [["b → a", 5], ["c → a", 5]]);
	assert.equal(busiest(activity, 8).length, 3);
	assert.equal(sum(activity, "prompts"), 13);
});

test("t16 lifetimes and costs are added up", () => {
	const lasting = (hours) => ({ createdAt: at(0), lastUsedAt: at(hours) });
	assert.equal(life(lasting(-1)), 0);
	assert.deepEqual(lives([0, 0.5, 1, 30, 24 * 8, 24 * 100].map(lasting)).map(([, count]) => count), [2, 1, 1, 1, 1]);
	const usage = (input, ...cost) => ({ id: 1, inputTokens: input, outputTokens: 1, cost });
	const { input, output, money } = spent([usage(5, { amount: 0.25, currency: "USD" }), usage(7, { amount: 1, currency: "USD" }, { amount: 2, currency: "EUR" })]);
	assert.deepEqual([input, output, money], [12, 2, { USD: 1.25, EUR: 2 }]);
});

test("t16 conversations without a message are not counted, compacted ones are", () => {
	const pair = (id, messageCount, used = 0) => ({ id, messageCount, createdAt: at(0), lastUsedAt: at(used) });
	assert.deepEqual(spoken([pair(1, 0), pair(2, 3), pair(3, 0, 2)]).map(({ id }) => id), [2, 3]);
});
