// The browser and the daemons of a file's tests, from the first test to the last.

import { after, afterEach, before } from "node:test";
import { Daemon, openBrowser, removeDaemons } from "./harness.js";

/** Gives all tests of a file one browser, and removes the daemons that a test made after it. */
export function daemonPerTest(use) {
  let browser;
  before(async () => use((browser = await openBrowser())));
  after(() => browser?.close());
  afterEach(removeDaemons);
}

/** Gives all tests of a file one browser and one daemon. */
export function daemonForAll(use) {
  let browser;
  before(async () => use((browser = await openBrowser()), await new Daemon().start()));
  after(async () => {
    await browser?.close();
    await removeDaemons();
  });
}
