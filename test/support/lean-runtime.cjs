const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/**
 * What Jest's own parts describe failures with. To load it anew for each suite takes as long as many a suite.
 * What compares values, or copies them, belongs to the suite as they do.
 */
const SHARED = new Set(['jest-message-util', 'jest-snapshot', 'pretty-format']);

/** Jest's runtime, which takes these from the worker process, where they are loaded once. */
module.exports = class LeanRuntime extends Runtime {
  requireInternalModule(from, to) {
    return SHARED.has(to) ? createRequire(from)(to) : super.requireInternalModule(from, to);
  }
};
module.exports.default = module.exports;
