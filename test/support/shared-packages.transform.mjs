import swc from '@swc/jest';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A static import as SWC prints it, except of Node's own modules. */
const IMPORT =
  /^import (?:(\w+)(?:, )?)?(?:\{ ([^}]*) \}|\* as (\w+))?(?: from )?(["'])((?!node:)[^"']+)\4;$/gm;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = ['src', 'migrations'];
const OF_TESTS = /spec\.ts$|^test\b/;

/** Part of the cache key: a changed transform has other results. */
const SELF = readFileSync(new URL(import.meta.url));

/** Loaded per suite: Jest's globals, and packages that use the suite's clock, which may be fake. */
const OWN = new Set(['@jest/globals', 'graphile-worker', 'lru-cache']);

/**
 * Compiles TypeScript to JavaScript that loads packages and built sources through `importShared`
 * (`shared-imports.environment.mjs`).
 */
export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      process(source, path, context) {
        const { code, ...rest } = transformer.process(source, path, context);
        return { ...rest, code: share(code, path) };
      },
      async processAsync(source, path, context) {
        const { code, ...rest } = await transformer.processAsync(source, path, context);
        return { ...rest, code: share(code, path) };
      },
      getCacheKey: (...parameters) =>
        createHash('sha1')
          .update(transformer.getCacheKey(...parameters))
          .update(SELF)
          .digest('hex'),
    };
  },
};

function share(code, path) {
  return code.replace(IMPORT, (line, name, names, namespace, _quote, specifier) => {
    const load = loadOf(specifier, path);
    if (load === undefined) return line;
    if (namespace) return `const ${namespace} = ${load};`;
    const members = (names ?? '').replaceAll(' as ', ': ');
    const all = [name && `default: ${name}`, members].filter(Boolean).join(', ');
    return all === '' ? `${load};` : `const { ${all} } = ${load};`;
  });
}

/** Returns the expression that loads a module; undefined for modules loaded per suite. */
function loadOf(specifier, path) {
  const quoted = JSON.stringify(specifier);
  if (!specifier.startsWith('.')) {
    return OWN.has(specifier) ? undefined : `await importShared(${quoted})`;
  }
  const file = relative(ROOT, resolve(dirname(path), specifier));
  const isOfSources = SOURCES.includes(file.split(sep, 1)[0]) && !OF_TESTS.test(file);
  if (!isOfSources || !OF_TESTS.test(relative(ROOT, path))) return undefined;
  const built = JSON.stringify(pathToFileURL(resolve(ROOT, 'dist', file)).href);
  return `await (sharesSources ? importShared(${built}) : import(${quoted}))`;
}
