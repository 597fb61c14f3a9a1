import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** See `shared-imports.environment.mjs`. */
declare const sharesSources: boolean;
declare const importShared: (url: string) => Promise<object>;

const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.entity.ts'))
  .map((path) => path.replace(/ts$/, 'js'));
const modules: object[] = [];
// One after the other: Jest's loader fails when modules with common imports are linked at once.
for (const path of paths) {
  modules.push(
    sharesSources
      ? await importShared(pathToFileURL(`dist/src/${path}`).href)
      : ((await import(`../../src/${path}`)) as object),
  );
}

/** Every entity, as the same classes that the suite imports. */
export const ENTITIES = modules
  .flatMap((module) => Object.entries(module))
  .flatMap(([name, exported]) => (name.endsWith('Entity') ? [exported as new () => object] : []));
