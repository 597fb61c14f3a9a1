import { availableParallelism } from 'node:os';

/** One configuration for every suite; the file's suffix says what it may touch (see CONTRIBUTING.md). */
export default {
  testEnvironment: '<rootDir>/test/support/shared-imports.environment.mjs',
  roots: ['<rootDir>/src', '<rootDir>/console/src', '<rootDir>/test'],
  testRegex: '\\.(spec|int-spec|e2e-spec|console-spec)\\.ts$',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/support/shared-packages.transform.mjs',
      { swcrc: false, ...swc() },
    ],
  },
  // To take a suite's globals apart when it ends would leave the next one no `expect`, which they share.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  runtime: '<rootDir>/test/support/lean-runtime.cjs',
  testSequencer: '<rootDir>/test/support/longest-first.sequencer.mjs',
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  // Many suites wait for most of their time, so three more than two processors are busy with.
  maxWorkers: Math.min(5, availableParallelism() + 3),
  // For what never ends: machines differ in speed, and stand still at times.
  testTimeout: 120_000,
};

function swc() {
  return {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: false,
      },
      target: 'es2022',
      keepClassNames: true,
    },
    module: { type: 'nodenext' },
    sourceMaps: 'inline',
  };
}
