import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** See `shared-imports.environment.mjs`. */
declare const sharesSources: boolean;
declare const importShared: (url: string) => Promise<object>;

/** Every entity, as the same classes that the suite imports. */
export const ENTITIES = (
  await Promise.all(
    readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.entity.ts'))
      .map((path) => path.replace(/ts$/, 'js'))
      .map((path): Promise<object> =>
        sharesSources
          ? importShared(pathToFileURL(`dist/src/${path}`).href)
          : import(`../../src/${path}`),
      ),
  )
)
  .flatMap((module) => Object.entries(module))
  .flatMap(([name, exported]) => (name.endsWith('Entity') ? [exported as new () => object] : []));
