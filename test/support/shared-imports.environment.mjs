import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment for Node, with `importShared`: an import that every suite of a worker process
 * shares. Jest itself loads each module anew for each suite, which for the whole service takes
 * longer than most suites do.
 */
export default class SharedImportsEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.importShared = (specifier) => import(specifier);
  }
}
