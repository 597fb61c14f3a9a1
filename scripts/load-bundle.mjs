/** Lies as `dist/service/load.mjs` beside the bundle (`bundle.mjs`), which it loads. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const BUNDLE = new URL('service.cjs', import.meta.url);
/** What V8 has compiled of the bundle, made by the build. V8 leaves it where it is another version's, or has other flags. */
export const COMPILED = new URL('service.compiled', import.meta.url);

/** @returns the programs, each a function that runs it, and the script, for what V8 has compiled of it */
export function loadBundle() {
  const filename = fileURLToPath(BUNDLE);
  const script = new Script(readFileSync(BUNDLE, 'latin1'), {
    filename,
    cachedData: existsSync(COMPILED) ? readFileSync(COMPILED) : undefined,
  });
  const bundle = { exports: {} };
  script.runInThisContext()(
    bundle,
    bundle.exports,
    createRequire(BUNDLE),
    BUNDLE.href,
    (specifier) => import(specifier),
  );
  return { programs: bundle.exports, script };
}
