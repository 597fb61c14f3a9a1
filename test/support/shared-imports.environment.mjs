// Decorators note types with it, whichever suite of a worker process comes first.
import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { TestEnvironment } from 'jest-environment-node';

/** What decorators note of types, and what packages and Jest ask of what they are given. */
const SHARED_CLASSES = [
  ...['Array', 'BigInt', 'Boolean', 'Date', 'Function', 'Map', 'Number', 'Promise'],
  ...['RegExp', 'Set', 'String', 'Symbol'],
  ...['Error', 'RangeError', 'SyntaxError', 'TypeError'],
];

/**
 * A suite with these has sources of its own: they go by its clock, its process and its globals, or have other
 * neighbours.
 */
const OWN_SOURCES =
  /useFakeTimers|on-fake-clock|process\.env\[|spyOn\((?:process|global)|unstable_mockModule/;

// Packages ask `instanceof Object` of a suite's literals too, which have a root of their own.
Object.defineProperty(Object, Symbol.hasInstance, {
  configurable: true,
  value(candidate) {
    const isInstance = Function.prototype[Symbol.hasInstance].call(this, candidate);
    return isInstance || (this === Object && rootOf(candidate)?.constructor === Object);
  },
});

/** The last of an object's prototypes; null for one that has none, undefined for what is no object. */
function rootOf(candidate) {
  if (candidate === null || !/object|function/.test(typeof candidate)) return undefined;
  let root = null;
  for (let next = Object.getPrototypeOf(candidate); next; next = Object.getPrototypeOf(next)) {
    root = next;
  }
  return root;
}

/**
 * Stores that follow promises, which have been used since the last suite. Some packages have one, and Node
 * hands every one of them on at each promise until it is told to stop: a worker's hundredth suite took
 * twice its time for that.
 */
const usedStores = new Set();
for (const name of ['run', 'enterWith']) {
  const use = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...parameters) {
    usedStores.add(this);
    return use.apply(this, parameters);
  };
}

/** One that another suite uses again is followed again. */
function forgetStores() {
  for (const store of usedStores) store.disable();
  usedStores.clear();
}

/**
 * Jest's environment for Node, with `importShared`: an import that every suite of a worker process
 * shares. Jest itself loads each module anew for each suite, which takes longer than most suites do.
 * `sharesSources` says whether the suite takes the built sources in this way, too. A suite has globals of its own; those classes of which objects go to and
 * fro are the packages' own.
 */
export default class SharedImportsEnvironment extends TestEnvironment {
  constructor(...parameters) {
    super(...parameters);
    for (const name of SHARED_CLASSES) {
      const shared = globalThis[name];
      // Literals, and the errors of the engine, are made by the suite's own classes.
      const own = this.global[name].prototype;
      Object.setPrototypeOf(own, shared.prototype);
      own.constructor = shared;
      this.global[name] = shared;
    }
    // The one prototype that cannot have another: the root of a suite's own literals.
    const root = this.global.Object.prototype;
    Object.defineProperties(root, Object.getOwnPropertyDescriptors(Object.prototype));
    this.global.Reflect = Reflect;
    this.global.importShared = (specifier) => import(specifier);
    const [, { testPath }] = parameters;
    this.global.sharesSources = !OWN_SOURCES.test(readFileSync(testPath, 'utf8'));
  }

  async teardown() {
    // What a suite has spied on in a package, the next one finds there.
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
    forgetStores();
  }
}
