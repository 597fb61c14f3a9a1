import swc from '@swc/jest';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A static import of a package, as SWC writes it; not of a file or of a part of Node. */
const IMPORT =
  /^import (?:(\w+)(?:, )?)?(?:\{ ([^}]*) \}|\* as (\w+))?(?: from )?(["'])((?!\.|node:)[^"']+)\4;$/gm;

/** Another one of these gives another result. */
const SELF = readFileSync(new URL(import.meta.url));

/** What belongs to a suite, and packages that go by its clock, which may be a fake one. */
const OWN = new Set(['@jest/globals', 'graphile-worker', 'lru-cache']);

/**
 * TypeScript to JavaScript, in which packages come from `importShared`
 * (`shared-imports.environment.mjs`).
 */
export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      process(source, path, context) {
        const { code, ...rest } = transformer.process(source, path, context);
        return { ...rest, code: sharePackages(code) };
      },
      async processAsync(source, path, context) {
        const { code, ...rest } = await transformer.processAsync(source, path, context);
        return { ...rest, code: sharePackages(code) };
      },
      getCacheKey: (...parameters) =>
        createHash('sha1')
          .update(transformer.getCacheKey(...parameters))
          .update(SELF)
          .digest('hex'),
    };
  },
};

function sharePackages(code) {
  return code.replace(IMPORT, (line, name, names, namespace, _quote, specifier) => {
    if (OWN.has(specifier)) return line;
    const load = `await importShared(${JSON.stringify(specifier)});`;
    if (namespace) return `const ${namespace} = ${load}`;
    const members = (names ?? '').replaceAll(' as ', ': ');
    const all = [name && `default: ${name}`, members].filter(Boolean).join(', ');
    return all === '' ? load : `const { ${all} } = ${load}`;
  });
}
