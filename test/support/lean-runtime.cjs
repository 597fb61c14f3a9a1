const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/**
 * What Jest's own parts describe failures with. To load it anew for each suite takes as long as many a suite.
 * What compares values, or copies them, belongs to the suite as they do.
 */
const SHARED = new Set(['jest-message-util', 'jest-snapshot', 'pretty-format']);

/**
 * Says which test or hook runs, as `AsyncLocalStorage` does for jest-circus, for what runs one after the other:
 * Node's own follows each promise of everything that a test starts, a gateway's included. So there is
 * no `test.concurrent`, and an error that comes late counts for the test that runs then.
 */
class RunningTest {
  run(test, work) {
    const before = this.test;
    this.test = test;
    return work().finally(() => (this.test = before));
  }

  getStore() {
    return this.test;
  }
}

/** Jest's runtime, which takes these from the worker process, where they are loaded once. */
module.exports = class LeanRuntime extends Runtime {
  requireInternalModule(from, to) {
    if (to === 'node:async_hooks') return { AsyncLocalStorage: RunningTest };
    return SHARED.has(to) ? createRequire(from)(to) : super.requireInternalModule(from, to);
  }
};
module.exports.default = module.exports;
