import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { parseSourceFile, readSourceFiles, type SourceFile } from './support/source-files.js';

/**
 * The folders of `src`, lowest first. A file may import from its own folder and from those of a
 * lower line; folders of one line do not know each other.
 */
const LAYERS = [
  ['common'],
  ['canonical'],
  ['catalogue'],
  ['access', 'metrics', 'request-log', 'upstream'],
  ['cache', 'credentials', 'guardrails', 'queue'],
  ['artifacts', 'delivery', 'ledger', 'outbound', 'routing', 'tracing'],
  [
    'audio',
    'bootstrap',
    'broadcast',
    'chat',
    'credits',
    'customer',
    'embeddings',
    'jobs',
    'messages',
    'operations',
    'providers',
    'responses',
  ],
  // The files directly in `src` put the process together.
  ['src'],
];

/** The canonical form carries a body as it was received, and needs nothing else of HTTP. */
const ONLY_TYPE_FROM_HTTP = 'src/platform/http/json-body.ts';
/** Rules that all dialects share refuse in the interface's words. */
const ERRORS = 'src/platform/errors/gateway-errors.ts';

const ENVIRONMENT = 'src/platform/config/process-environment.ts';

const VENDORS =
  /openai|anthropic|azure|bedrock|vertex|fish-?audio|gemini|claude|\bgpt|mistral|cohere/i;
/** Where code may depend on which vendor it is. */
const VENDOR_PLACES = [
  'src/vendors/',
  'src/vendors/sandbox/',
  'src/vendors/upstream.registry.ts',
  'src/core/catalogue/data/',
  'src/platform/config/',
  // The one public path that spells a vendor, and what else its dialect is spelled with.
  'src/features/messages/messages.vendor.ts',
  // Whose seals stand in the dialect as they are.
  'src/features/responses/responses.vendor.ts',
];

const RULES: [string, (file: SourceFile) => string[]][] = [
  ['imports run one way, from a layer to the ones below it', findImportsUpOrAcross],
  ['an import names a file that exists, or a migration', findBrokenImports],
  ['the canonical form takes one type of HTTP, and errors, and nothing more', findCanonicalImports],
  ['the environment is read in one place', findEnvironmentReads],
  ['vendors are told apart in few places only', findVendorNames],
];

describe('the layout of src', () => {
  const files = readSourceFiles('src');

  it('is read whole', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap((file) => file.imports).length).toBeGreaterThan(500);
  });

  it.each(RULES)('%s', (_name, find) => {
    expect(files.flatMap(find)).toEqual([]);
  });

  it('has no two files that need each other to load', () => {
    expect(findCycles(files)).toEqual([]);
  });
});

describe('each rule on the layout', () => {
  const find = (path: string, text: string): string[] =>
    RULES.flatMap(([, rule]) => rule(parseSourceFile(path, text)));

  it.each([
    ['src/chat/a.ts', "import { x } from '../ledger/hold.js';"],
    ['src/chat/a.ts', "import { x } from './chat.parse.js';"],
    ['src/app/app.module.ts', "import { x } from './chat/chat.module.js';"],
    ['src/canonical/a.ts', "import type { JsonBody } from '../common/http/json-body.js';"],
    ['src/canonical/a.ts', "import { X } from '../common/errors/gateway-errors.js';"],
    ['src/features/messages/messages.vendor.ts', "export const MAKER = 'anthropic';"],
    ['src/chat/a.ts', "const words = 'as OpenAI does'; // like openai"],
    ['src/chat/a.ts', "ApiProperty({ example: 'openai' });"],
    ['src/chat/a.ts', "process.on('exit', stop);"],
    [ENVIRONMENT, 'export const environment = process.env;'],
    ['src/vendors/openai/openai.adapter.ts', "if (id === 'openai') run();"],
  ])('lets %s pass with %s', (path, text) => {
    expect(find(path, text)).toEqual([]);
  });

  it.each([
    ['src/chat/a.ts', "import { x } from '../customer/customer.module.js';"],
    ['src/chat/a.ts', "import { x } from '../app.setup.js';"],
    ['src/routing/a.ts', "import type { Hold } from '../ledger/hold.js';"],
    ['src/routing/a.ts', "export * from '../ledger/hold.js';"],
    ['src/ledger/a.ts', "const later = import('../routing/plan.js');"],
    ['src/ledger/a.ts', "let plan: import('../routing/plan.js').Plan;"],
    ['src/access/a.ts', "import { x } from '../upstream/upstream.js';"],
    ['src/common/a.ts', "import { x } from '../canonical/usage.js';"],
    ['src/common/a.ts', "import { x } from './no-such-file.js';"],
    ['src/canonical/a.ts', "import { x } from '../common/http/json-body.js';"],
    ['src/canonical/a.ts', "import type { X } from '../common/http/read-body.js';"],
    ['src/canonical/a.ts', "import { x } from '../common/errors/error-body.js';"],
    ['src/messages/a.ts', "const maker = 'anthropic';"],
    ['src/messages/a.ts', "import { x } from '../chat/chat.render.js';"],
    ['src/newcomer/a.ts', "import { x } from '../common/http/json-body.js';"],
    ['src/chat/a.ts', 'const port = process.env.PORT;'],
    ['src/chat/a.ts', "const port = process['env'].PORT;"],
    ['src/chat/a.ts', 'const { env } = process;'],
    ['src/chat/a.ts', "import { env } from 'node:process';"],
    ['src/chat/a.ts', "if (route.provider === 'openai') run();"],
    ['src/chat/a.ts', 'class AnthropicThing {}'],
    ['src/chat/a.ts', 'const model = `claude-${version}`;'],
  ])('stops %s with %s', (path, text) => {
    expect(find(path, text)).toHaveLength(1);
  });

  it('stops two files that import each other, unless only types', () => {
    const pair = (keyword: string): SourceFile[] => [
      parseSourceFile('src/chat/a.ts', "import { b } from './b.js';"),
      parseSourceFile('src/chat/b.ts', `${keyword} { a } from './a.js';`),
    ];
    expect(findCycles(pair('import'))).toEqual(['src/chat/a.ts > src/chat/b.ts > src/chat/a.ts']);
    expect(findCycles(pair('import type'))).toEqual([]);
  });
});

/** `src/features/chat/chat.parse.ts` is in `chat`, `src/main.ts` in `src` itself. */
function folderOf(path: string): string {
  const [root = '', folder = '', ...rest] = path.split('/');
  return rest.length === 0 ? root : folder;
}

function layerOf(path: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(path)));
}

function findImportsUpOrAcross({ path, imports }: SourceFile): string[] {
  const own = layerOf(path);
  if (own === -1) return [`${path} is in a folder without a layer`];
  return imports
    .filter(({ target }) => target.startsWith('src/') && folderOf(target) !== folderOf(path))
    .filter(({ target }) => layerOf(target) === -1 || layerOf(target) >= own)
    .map(({ target }) => `${path} imports ${target}`);
}

function findBrokenImports({ path, imports }: SourceFile): string[] {
  return imports
    .filter(({ target }) => !existsSync(target) || !/^(?:src|migrations)\//.test(target))
    .map(({ target }) => `${path} imports ${target}`);
}

function findCanonicalImports({ path, imports }: SourceFile): string[] {
  if (folderOf(path) !== 'canonical') return [];
  return imports
    .filter(({ target }) => folderOf(target) === 'common' && target !== ERRORS)
    .filter(({ target, isTypeOnly }) => target !== ONLY_TYPE_FROM_HTTP || !isTypeOnly)
    .map(({ target }) => `${path} imports ${target}`);
}

function findEnvironmentReads({ path, readsEnvironment }: SourceFile): string[] {
  return readsEnvironment && path !== ENVIRONMENT ? [`${path} reads the environment`] : [];
}

function findVendorNames({ path, tokens }: SourceFile): string[] {
  if (VENDOR_PLACES.some((place) => path.startsWith(place))) return [];
  const names = new Set(tokens.filter((token) => VENDORS.test(token)));
  return [...names].map((name) => `${path} names a vendor: ${name}`);
}

function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
      return;
    }
    if (done.has(path)) return;
    for (const { target, isTypeOnly } of byPath.get(path)?.imports ?? []) {
      if (!isTypeOnly) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}
