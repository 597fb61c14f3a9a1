import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What starts as a process of its own, below `dist/src`. */
const PROGRAMS = ['main', 'worker', 'cli'];
const LOADER = fileURLToPath(new URL('./load-bundle.mjs', import.meta.url));

/**
 * Packages that go into the bundle when the service asks for them, each with all that it asks for. What reads
 * files beside itself or is rarely needed is loaded from `node_modules` as before.
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
/** What packages of the bundle ask for, but packages outside do as well, or only somebody else's program. */
const OUTSIDE = ['@opentelemetry', 'bull', 'ioredis', 'pg', 'swagger-ui-dist', 'typescript'];

/** A file that asks Node itself for a package of the bundle would get another copy of it. */
const OWN_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;
const WITHOUT_OWN_REQUIRE = /@nestjs\/(?:mapped-types|typeorm)\//;

const COMMON_JS = 'commonjs';
/** Any but `default`, which stands for the whole. */
const NAME = /^(?!default$)[A-Za-z_$][\w$]*$/;

/** The head of a class that stands at the beginning of a statement. */
const CLASS =
  /^(\s*(?:export (?:default )?)?(?:[\w$ ]+ = )*)class ([\w$]+)( extends [^{]*?)?\s*\{/gm;

/**
 * Makes one file of the thousands that the built service is loaded from, in `dist/service`, and has the
 * programs in `dist/src` run that. Finding, reading and linking a module takes Node 0.3 ms. Being a script
 * rather than a module, the file can have its code kept beside it, already compiled: see `load-bundle.mjs`.
 * Worker threads go on from the modules themselves.
 *
 * @param root has `dist/src`, freshly built
 * @throws Error with what is wrong with the sources
 */
export async function bundleService(root) {
  // Not where this script is only read, as in an image that is run.
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
    // White space is 12 MB of memory. Names of functions stay, and lines are short: a stack trace says where,
    // and Node, which shows the line of an error that ends it, shows no megabyte.
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
 * A script cannot import by itself, and takes twice its memory for a letter beyond ASCII, of which esbuild
 * leaves those of regular expressions.
 */
function inScript(text) {
  return text
    .replace(/\bimport\((?=")/g, 'importOutside(')
    .replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Packages that have both kinds are taken as ES modules, so only the text tells. */
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
      // An optional package that is not there.
      if (found.errors.length > 0) return { path, external: true };
      const isWhole = kind === 'dynamic-import' && !found.external && isCommonJs(found.path);
      return isWhole ? { path: found.path, namespace: COMMON_JS } : found;
    },
  );
  // Node finds names in what CommonJS exports, where esbuild leaves the whole alone for `import()`.
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
    // Each module looks for files beside itself.
    const place = JSON.stringify(relative(folder, path));
    contents = contents.replaceAll('import.meta.url', `new URL(${place}, bundleUrl).href`);
    // Two classes of one name in one file: the second is renamed, but Nest, the OpenAPI description and the
    // database go by what a class says of itself.
    contents = contents.replace(
      CLASS,
      (head, before, name, parent = '') =>
        `${before}class ${name}${parent} { static { Object.defineProperty(this, 'name', { value: '${name}', configurable: true }); }`,
    );
    return { contents, loader: 'js' };
  });
}
