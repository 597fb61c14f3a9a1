// Decorators store types through it, whichever suite of a worker runs first.
import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { TestEnvironment } from 'jest-environment-node';

/** The classes that decorators store as types, and that packages and Jest check values against. */
const SHARED_CLASSES = [
  ...['Array', 'BigInt', 'Boolean', 'Date', 'Function', 'Map', 'Number', 'Promise'],
  ...['RegExp', 'Set', 'String', 'Symbol'],
  ...['Error', 'RangeError', 'SyntaxError', 'TypeError'],
];

/**
 * Suites that match load their own copy of the sources, because those depend on the suite's clock,
 * process or globals, or have mocked modules.
 */
const OWN_SOURCES =
  /useFakeTimers|on-fake-clock|process\.env\[|spyOn\((?:process|global)|unstable_mockModule/;

// Packages also check `instanceof Object` on a suite's literals, which have their own root prototype.
Object.defineProperty(Object, Symbol.hasInstance, {
  configurable: true,
  value(candidate) {
    const isInstance = Function.prototype[Symbol.hasInstance].call(this, candidate);
    return isInstance || (this === Object && rootOf(candidate)?.constructor === Object);
  },
});

/** Returns the last of an object's prototypes; null if it has none, undefined for primitives. */
function rootOf(candidate) {
  if (candidate === null || !/object|function/.test(typeof candidate)) return undefined;
  let root = null;
  for (let next = Object.getPrototypeOf(candidate); next; next = Object.getPrototypeOf(next)) {
    root = next;
  }
  return root;
}

/**
 * Async stores used since the last suite. Node propagates every enabled store at each promise, until it is
 * disabled; without that, a worker's hundredth suite took twice as long.
 */
const usedStores = new Set();
for (const name of ['run', 'enterWith']) {
  const use = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...parameters) {
    usedStores.add(this);
    return use.apply(this, parameters);
  };
}

/** Disables the stores; using one again enables it. */
function forgetStores() {
  for (const store of usedStores) store.disable();
  usedStores.clear();
}

/**
 * Jest's Node environment with `importShared`, an import that all suites of a worker share. Jest itself
 * loads each module again for each suite, which takes longer than most suites do. `sharesSources` says
 * whether the suite also shares the built sources. A suite has its own globals, except for the classes
 * whose instances are exchanged with packages.
 */
export default class SharedImportsEnvironment extends TestEnvironment {
  constructor(...parameters) {
    super(...parameters);
    for (const name of SHARED_CLASSES) {
      const shared = globalThis[name];
      // Literals and engine errors are created by the suite's own classes.
      const own = this.global[name].prototype;
      Object.setPrototypeOf(own, shared.prototype);
      own.constructor = shared;
      this.global[name] = shared;
    }
    // The root of a suite's literals is the one prototype that cannot be replaced.
    const root = this.global.Object.prototype;
    Object.defineProperties(root, Object.getOwnPropertyDescriptors(Object.prototype));
    this.global.Reflect = Reflect;
    this.global.importShared = (specifier) => import(specifier);
    const [, { testPath }] = parameters;
    this.global.sharesSources = !OWN_SOURCES.test(readFileSync(testPath, 'utf8'));
  }

  async teardown() {
    // Spies on shared packages would carry over to the next suite.
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
    forgetStores();
  }
}
