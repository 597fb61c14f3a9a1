/** Modules of the build under test, which `globalSetup` has made. */
const BUILT = new URL('../../dist/src/', import.meta.url);

declare global {
  /** See `shared-imports.environment.mjs`. */
  var importShared: (specifier: string) => Promise<unknown>;
}

/**
 * A module of the built service, the same for all suites of a worker process. Its classes are not
 * those that a suite imports from `src`, so a provider is asked for by the class that is got here.
 *
 * @param path below `src`, e.g. `jobs/job-worker.service.js`
 */
export function importBuilt<Module>(path: string): Promise<Module> {
  return importShared(new URL(path, BUILT).href) as Promise<Module>;
}
