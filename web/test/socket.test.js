import assert from "node:assert/strict";
import { test } from "node:test";
import { LineBroken, makeLine } from "../assets/lib/socket.js";

/** A connection with scripted sockets and a clock that the test moves. */
function scene({ probe = "unreachable" } = {}) {
  const world = { sockets: [], timers: new Map(), time: 0, nextTimer: 1, frames: [], phases: [], secret: "s3cret" };
  const line = makeLine({
    open: () => {
      const socket = { sent: [], send: (text) => socket.sent.push(JSON.parse(text)), close: () => (socket.closed = true) };
      world.sockets.push(socket);
      return socket;
    },
    secret: () => world.secret,
    onphase: () => {},
    probe: async () => probe,
    now: () => world.time,
    random: () => 0.5,
    later: (action, ms) => (world.timers.set(world.nextTimer, { action, at: world.time + ms }), world.nextTimer++),
    cancel: (timer) => world.timers.delete(timer),
  });
  line.onframe = (frame) => world.frames.push(frame);
  line.onstate = ({ phase }) => world.phases.push(phase);
  return {
    line,
    world,
    get socket() { return world.sockets.at(-1); },
    say(frame) { this.socket.onmessage({ data: JSON.stringify(frame) }); },
    pass(ms) {
      world.time += ms;
      for (const [id, { action, at }] of [...world.timers]) {
        if (at > world.time) continue;
        world.timers.delete(id);
        action();
      }
    },
    /** The daemon takes the socket and its secret. */
    welcome() {
      this.socket.onopen();
      assert.deepEqual(this.socket.sent.splice(0), [{ type: "browser:auth", secret: world.secret }]);
      this.say({ type: "browser:ready" });
    },
    open() {
      line.start();
      this.welcome();
      return this;
    },
  };
}

test("w5 a request is answered by the frame with its id, and pushes go their own way", async () => {
  const it = scene().open();
  const answer = it.line.request("project:list");
  const [{ type, requestId }] = it.socket.sent;
  assert.equal(type, "project:list");
  it.say({ type: "inbox:changed", count: 1 });
  it.say({ type: "project:list", requestId, projects: [] });
  assert.deepEqual(await answer, { type: "project:list", requestId, projects: [] });
  assert.deepEqual(it.world.frames.map((frame) => frame.type), ["inbox:changed", "project:list"]);
});

test("w5 an error answers with its words and its hint", async () => {
  const it = scene().open();
  const answer = it.line.query("session:open", { sessionId: "x" });
  it.say({ type: "error", requestId: it.socket.sent[0].requestId, message: "Could not load session", hint: "look again" });
  await assert.rejects(answer, { message: "Could not load session", hint: "look again" });
  assert.deepEqual(it.world.frames, []);
});

test("what flows before the answer of an open does not answer it", async () => {
  const it = scene().open();
  const answer = it.line.request("session:open", { after: 3 });
  const { requestId } = it.socket.sent[0];
  it.say({ type: "session:update", requestId, rev: 4 });
  it.say({ type: "session:chunk", requestId, rev: 5 });
  it.say({ type: "session:opened", requestId, rev: 5 });
  assert.equal((await answer).type, "session:opened");
  assert.equal(it.world.frames.length, 3);
});

test("what is under way when the line breaks fails, and so does what is asked while it is down", async () => {
  const it = scene().open();
  const answer = it.line.request("session:send");
  it.socket.onclose({ code: 1006 });
  await assert.rejects(answer, LineBroken);
  await assert.rejects(it.line.request("ping"), LineBroken);
});

test("pauses between attempts grow, and waking ends them at once", async () => {
  const it = scene();
  it.line.start();
  const waits = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    it.socket.onclose({ code: 1006 });
    waits.push(it.line.state.retryAt - it.world.time);
    it.pass(waits.at(-1));
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  it.socket.onclose({ code: 1006 });
  const before = it.world.sockets.length;
  it.line.wake();
  assert.equal(it.world.sockets.length, before + 1);
  it.welcome();
  assert.equal(it.line.isOpen, true);
  it.socket.onclose({ code: 1006 });
  assert.equal(it.line.state.retryAt - it.world.time, 500, "a line that was open begins anew");
});

test("a silent line is asked whether it lives, and given up when it does not answer", () => {
  const it = scene().open();
  it.pass(20_000);
  assert.deepEqual(it.socket.sent, [{ type: "ping" }]);
  it.say({ type: "pong" });
  it.pass(19_999);
  assert.equal(it.socket.sent.length, 1);
  it.pass(1);
  it.pass(8000);
  assert.equal(it.world.sockets[0].closed, true);
  assert.equal(it.line.state.phase, "waiting");
  it.pass(500);
  assert.equal(it.world.sockets.length, 2);
});

test("a person who comes back has an open line looked after", () => {
  const it = scene().open();
  it.line.wake();
  assert.deepEqual(it.socket.sent, [{ type: "ping" }]);
});

test("k6 nothing is asked before the daemon has taken the secret", async () => {
  const it = scene();
  it.line.start();
  it.socket.onopen();
  await assert.rejects(it.line.request("project:list"), LineBroken);
  assert.deepEqual(it.socket.sent, [{ type: "browser:auth", secret: "s3cret" }]);
  it.say({ type: "browser:ready" });
  assert.equal(it.line.isOpen, true);
  assert.deepEqual(it.world.frames, [], "which is no news for the page");
});

test("a daemon that takes the socket and never answers is given up", () => {
  const it = scene();
  it.line.start();
  it.socket.onopen();
  it.pass(8000);
  assert.equal(it.socket.closed, true);
  assert.equal(it.line.state.phase, "waiting");
});

test("k6 a page that is no longer signed in says so, and waits for a person", async () => {
  const it = scene({ probe: "denied" });
  it.line.start();
  it.socket.onclose({ code: 1006 });
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(it.line.state.phase, "denied");
  it.pass(60_000);
  assert.equal(it.world.sockets.length, 1);
  it.line.wake();
  assert.equal(it.line.state.phase, "denied");
  it.welcome();
  assert.equal(it.line.state.phase, "open");
  it.socket.onclose({ code: 4401 });
  assert.equal(it.line.state.phase, "denied", "revoked while it was open");
  it.pass(60_000);
  assert.equal(it.world.sockets.length, 2);
});

test("k6 a browser without a secret does not even knock", () => {
  const it = scene();
  it.world.secret = null;
  it.line.start();
  assert.equal(it.line.state.phase, "denied");
  assert.equal(it.world.sockets.length, 0);
  it.world.secret = "another tab was signed in";
  it.line.wake();
  it.welcome();
  assert.equal(it.line.isOpen, true);
});

test("a line that was hung up stays so", () => {
  const it = scene().open();
  it.line.stop();
  it.socket.onclose({ code: 1006 });
  it.pass(60_000);
  assert.equal(it.world.sockets.length, 1);
});
