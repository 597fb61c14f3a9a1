/** Copied to `dist/service/load.mjs`, next to the bundle (`bundle.mjs`) that it loads. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const BUNDLE = new URL('service.cjs', import.meta.url);
/** Code that V8 compiled at the build. V8 ignores it if its version or flags differ. */
export const COMPILED = new URL('service.compiled', import.meta.url);

/** @returns the programs, as functions that run them, and the script, for caching its compiled code */
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
