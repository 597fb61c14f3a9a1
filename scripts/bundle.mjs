import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Programs with their own process, below `dist/src`. */
const PROGRAMS = ['main', 'worker', 'cli'];
const LOADER = fileURLToPath(new URL('./load-bundle.mjs', import.meta.url));

/**
 * Packages to bundle, each with its dependencies. Packages that read their own files or are rarely
 * needed are loaded from `node_modules`.
 */
const INSIDE = [
  '@aws-crypto',
  '@nestjs',
  '@smithy',
  'ajv',
  'class-transformer',
  'class-validator',
  'csv-stringify',
  'express',
  'ipaddr.js',
  'lru-cache',
  'p-limit',
  'prom-client',
  're2js',
  'reflect-metadata',
  'rxjs',
  'tslib',
  'typeorm',
  'undici',
  'ws',
];
/** Dependencies of bundled packages that stay outside: shared with outside packages, or needed only elsewhere. */
const OUTSIDE = ['@opentelemetry', 'bull', 'ioredis', 'pg', 'swagger-ui-dist', 'typescript'];

/** A file that calls Node's `require` would get a second copy of a bundled package. */
const OWN_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;
const WITHOUT_OWN_REQUIRE = /@nestjs\/(?:mapped-types|typeorm)\//;

const COMMON_JS = 'commonjs';
/** Any name except `default`, which stands for the whole module. */
const NAME = /^(?!default$)[A-Za-z_$][\w$]*$/;

/** The head of a class at the start of a statement. */
const CLASS =
  /^(\s*(?:export (?:default )?)?(?:[\w$ ]+ = )*)class ([\w$]+)( extends [^{]*?)?\s*\{/gm;

/**
 * Bundles the thousands of files of the built service into one, in `dist/service`, and makes the
 * programs in `dist/src` run it. Finding, reading and linking a module takes Node 0.3 ms. The bundle is
 * a script rather than a module, so its compiled code can be cached: see `load-bundle.mjs`. Worker
 * threads still use the modules.
 *
 * @param root has a fresh `dist/src`
 * @throws Error with the problem in the sources
 */
export async function bundleService(root) {
  // Imported on demand: the production image has no esbuild.
  const { build } = await import('esbuild');
  const sources = join(root, 'dist', 'src');
  const folder = join(root, 'dist', 'service');
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: entry(), resolveDir: sources, sourcefile: 'programs.js' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Whitespace would take 12 MB of memory. Function names stay for stack traces, and lines are short,
    // because Node prints the whole line of a fatal error.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    legalComments: 'none',
    logLevel: 'silent',
    banner: { js: '(function(module,exports,require,bundleUrl,importOutside){' },
    footer: { js: '})' },
    plugins: [{ name: 'service', setup: (bundler) => setUp(bundler, folder) }],
  });
  mkdirSync(folder, { recursive: true });
  copyFileSync(LOADER, join(folder, 'load.mjs'));
  writeFileSync(join(folder, 'service.cjs'), inScript(outputFiles[0].text));
  for (const name of PROGRAMS) {
    writeFileSync(join(sources, `${name}.js`), programOf(name));
  }
}

function entry() {
  const programs = PROGRAMS.map((name) => `export const ${name} = () => import('./${name}.js');`);
  return [...programs, `export const openapi = () => import('./app/openapi.js');`].join('\n');
}

function programOf(name) {
  return `import { loadBundle } from '../service/load.mjs';
const { ${name} } = loadBundle().programs;
await (await ${name}()).done;
`;
}

/**
 * Adapts the code to a script, which has no `import`. A single non-ASCII letter would double its
 * memory, and esbuild does not escape those in regular expressions.
 */
function inScript(text) {
  return text
    .replace(/\bimport\((?=")/g, 'importOutside(')
    .replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Some ES module packages contain CommonJS files, so only the text tells. */
function isCommonJs(path) {
  return !path.endsWith('.mjs') && !/^(?:import|export)\b/m.test(readFileSync(path, 'utf8'));
}

function setUp(bundler, folder) {
  const [isInside, isOutside] = [INSIDE, OUTSIDE].map(
    (names) => new RegExp(`^(?:${names.join('|')})(?:/|$)`),
  );
  bundler.onResolve(
    { filter: /^[^./]/ },
    async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (kind === 'entry-point' || pluginData === 'asked') return undefined;
      const isOfPackage = importer.includes('node_modules');
      if (isOfPackage ? isOutside.test(path) : !isInside.test(path))
        return { path, external: true };
      const options = { kind, resolveDir, importer, pluginData: 'asked' };
      const found = await bundler.resolve(path, options);
      // An optional package that is not installed.
      if (found.errors.length > 0) return { path, external: true };
      const isWhole = kind === 'dynamic-import' && !found.external && isCommonJs(found.path);
      return isWhole ? { path: found.path, namespace: COMMON_JS } : found;
    },
  );
  // Node detects names exported by CommonJS; esbuild exports only the whole for `import()`.
  bundler.onLoad({ filter: /./, namespace: COMMON_JS }, ({ path }) => {
    const names = Object.keys(createRequire(path)(path)).filter((name) => NAME.test(name));
    const contents = `const whole = require(${JSON.stringify(path)});
export default whole;
export const { ${names.join(', ')} } = whole;`;
    return { contents, resolveDir: dirname(path), loader: 'js' };
  });
  bundler.onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
    let contents = readFileSync(path, 'utf8');
    if (WITHOUT_OWN_REQUIRE.test(path)) contents = contents.replace(OWN_REQUIRE, '');
    // Modules locate files relative to themselves.
    const place = JSON.stringify(relative(folder, path));
    contents = contents.replaceAll('import.meta.url', `new URL(${place}, bundleUrl).href`);
    // esbuild renames the second of two classes with one name, but Nest, the OpenAPI description and
    // TypeORM rely on class names.
    contents = contents.replace(
      CLASS,
      (head, before, name, parent = '') =>
        `${before}class ${name}${parent} { static { Object.defineProperty(this, 'name', { value: '${name}', configurable: true }); }`,
    );
    return { contents, loader: 'js' };
  });
}
