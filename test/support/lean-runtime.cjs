const { jestExpect } = require('@jest/expect');
const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/**
 * Stores the running test or hook for jest-circus, which uses `AsyncLocalStorage` for this. Node's own
 * tracks every promise of everything a test starts, gateways included. So `test.concurrent` does not work,
 * and a late error counts for the test that is running then.
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
 * Jest's runtime with Jest's own modules loaded once per worker process: loading them for each suite takes
 * longer than most suites do. Only modules with a suite's state, which Jest requests by path, are loaded
 * per suite.
 */
module.exports = class LeanRuntime extends Runtime {
  requireInternalModule(from, to) {
    if (to === 'node:async_hooks') return { AsyncLocalStorage: RunningTest };
    return to === undefined ? super.requireInternalModule(from) : createRequire(from)(to);
  }
};
module.exports.default = module.exports;

/** Makes `expect.any(Object)` accept objects of every realm: a suite has its own `Object`. */
const { any } = jestExpect;
jestExpect.any = (sample) => any(isRoot(sample) ? Object : sample);

function isRoot({ prototype }) {
  return prototype !== undefined && Object.getPrototypeOf(prototype) === null;
}
