const { jestExpect } = require('@jest/expect');
const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

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

/**
 * Jest's runtime, in which Jest's own parts are loaded once for all suites of a worker process: to load them anew
 * for each takes longer than most suites do. Only what has a suite's state, which Jest asks for by its path, is
 * the suite's own.
 */
module.exports = class LeanRuntime extends Runtime {
  requireInternalModule(from, to) {
    if (to === 'node:async_hooks') return { AsyncLocalStorage: RunningTest };
    return to === undefined ? super.requireInternalModule(from) : createRequire(from)(to);
  }
};
module.exports.default = module.exports;

/** `expect.any(Object)` means any object, whose-ever `Object` it is: a suite has one of its own. */
const { any } = jestExpect;
jestExpect.any = (sample) => any(isRoot(sample) ? Object : sample);

function isRoot({ prototype }) {
  return prototype !== undefined && Object.getPrototypeOf(prototype) === null;
}
