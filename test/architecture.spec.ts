import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { parseSourceFile, readSourceFiles, type SourceFile } from './support/source-files.js';

/** The rooms of `src`, lowest first. A file imports from its own room and from those before it. */
const ROOMS = ['platform', 'canonical', 'vendors', 'core', 'features', 'operator', 'app'];
/** The three entry points, which import only `app`. */
const ENTRIES = ['src/main.ts', 'src/worker.ts', 'src/cli.ts'];
/** Folders of one room that must not import each other: all features, and some of core. */
const INDEPENDENT = [
  { room: 'features', between: () => true },
  {
    room: 'core',
    between: (...pair: string[]) => pair.includes('routing') && pair.includes('ledger'),
  },
  // The ledger writes log rows, so the log must not import the ledger.
  {
    room: 'core',
    between: (own: string, other: string) => own === 'request-log' && other === 'ledger',
  },
];

/** The canonical form contains the received body; it needs nothing else from HTTP. */
const ONLY_TYPE_FROM_HTTP = 'src/platform/http/json-body.ts';
/** Rules shared by all dialects throw the gateway's errors. */
const ERRORS = 'src/platform/errors/gateway-errors.ts';

/** The only file that imports migrations. */
const MIGRATION_LIST = 'src/platform/database/migrations.ts';

const ENVIRONMENT = 'src/platform/config/load-config.ts';

const VENDORS =
  /openai|anthropic|azure|bedrock|vertex|fish-?audio|deepgram|eleven-?labs|gemini|claude|\bgpt|mistral|cohere/i;
/** Folders of `src/vendors` that belong to no vendor. */
const SHARED_BY_VENDORS = ['dialects', 'transport'];
/** The one file that imports every vendor. */
const VENDOR_LIST = 'src/vendors/vendors.ts';
/** Code outside the vendors' folders that may depend on a specific vendor. */
const VENDOR_PLACES = [
  VENDOR_LIST,
  'src/core/catalogue/data/',
  // Provider types of the API, which are named after vendors.
  'src/platform/config/app-config.ts',
  // Paths, headers and names of the messages dialect that contain its vendor's name.
  'src/features/messages/messages.vendor.ts',
  // The same for its list of models, and paths of Azure's variant of the API.
  'src/features/providers/messages-models.vendor.ts',
  'src/app/deployment-paths.middleware.ts',
  // The tokenizer's package is named after models.
  'src/vendors/dialects/embeddings/token-texts.ts',
  // The vendor whose signatures have no prefix in the dialect.
  'src/features/responses/responses.vendor.ts',
];

const RESOURCE_FOLDER = /^src\/features\/(?:admin|customer)\/[^/]+(?=\/)/;
/** Folders whose services or shapes other folders and the operator's commands share. */
const SHARED_RESOURCES = [
  'src/features/admin/limits',
  'src/features/admin/tenants',
  'src/features/admin/usage',
  'src/features/customer/statements',
];

/** Folders of files that pages may name. */
const CODE_FOLDERS = [
  'src',
  'test',
  'bench',
  'scripts',
  'docker',
  'docs',
  'migrations',
  'console/src',
];
/** A source file as pages name it: `ledger.service.ts` or `core/ledger/ledger.service.ts`. */
const NAMED_FILE = /`(\w[\w./-]*\.(?:ts|mjs))`/g;

/** Definitions of the decorators that declare a DTO field. */
const FIELD_DECORATORS = [
  'src/platform/http/field.decorators.ts',
  'src/platform/http/nested-field.decorators.ts',
];
/** Decorators that those combine: validation and description. */
const PARTS_OF_FIELDS = /^(?:Api(?:Hide)?Property(?:Optional)?|ValidateNested|Is[A-Z][a-z]+)$/;

const RULES: [string, (file: SourceFile) => string[]][] = [
  ['a room imports only from rooms below it', findImportsUpOrAcross],
  ['imported files exist, and only one file imports migrations', findBrokenImports],
  [
    'the canonical form imports only errors, text functions and one HTTP type',
    findCanonicalImports,
  ],
  ['only one file reads the environment', findEnvironmentReads],
  ['only a few files name a vendor', findVendorNames],
  ['only the vendor list imports vendors', findVendorImports],
  ['services do not use Express', findExpressInServices],
  ['one decorator declares each DTO field', findBareFields],
  ['only the module of a resource imports its folder', findSharedResources],
];

describe('the layout of src', () => {
  const files = readSourceFiles('src');

  it('is read completely', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap((file) => file.imports).length).toBeGreaterThan(500);
  });

  it.each(RULES)('%s', (_name, find) => {
    expect(files.flatMap(find)).toEqual([]);
  });

  it('has no import cycle, including type imports', () => {
    expect(findCycles(files)).toEqual([]);
  });

  it('has no import cycle between folders of core', () => {
    const folders = foldersOfCore(files);
    expect(folders.map(({ path }) => path)).toContain('src/core/access');
    expect(findCycles(folders)).toEqual([]);
  });
});

describe('the documentation', () => {
  it('names only files that exist', () => {
    const paths = [...CODE_FOLDERS.flatMap(listFiles), ...readdirSync('console')];
    const names = new Set(paths.map((path) => basename(path)));
    const pages = [...listFiles('docs').filter((path) => path.endsWith('.md')), 'README.md'];
    const gone = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(NAMED_FILE)]
        .map(([, path = '']) => path)
        .filter((path) => !names.has(basename(path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(gone).toEqual([]);
  });
});

describe('each layout rule', () => {
  const find = (path: string, text: string): string[] =>
    RULES.flatMap(([, rule]) => rule(parseSourceFile(path, text)));

  it.each([
    ['src/features/chat/a.ts', "import { x } from '../../core/ledger/hold.js';"],
    ['src/features/chat/a.ts', "import { x } from './chat.parse.js';"],
    ['src/features/admin/a.module.ts', "import { x } from './whoami/whoami.controller.js';"],
    ['src/core/tracing/a.ts', "import { x } from '../ledger/hold.js';"],
    ['src/main.ts', "import { x } from './app/gateway.js';"],
    [MIGRATION_LIST, "import { x } from '../../../migrations/1764200000000-create-jobs.js';"],
    ['src/app/app.module.ts', "import { x } from '../features/chat/chat.module.js';"],
    ['src/canonical/a.ts', "import type { JsonBody } from '../platform/http/json-body.js';"],
    ['src/canonical/a.ts', "import { X } from '../platform/errors/gateway-errors.js';"],
    ['src/features/messages/messages.vendor.ts', "export const MAKER = 'anthropic';"],
    ['src/vendors/vendors.ts', "import { openAi } from './openai/openai.vendor.js';"],
    ['src/vendors/vertex/a.ts', "import { x } from '../anthropic/anthropic.adapter.js';"],
    ['src/features/chat/a.ts', "const words = 'as OpenAI does'; // like openai"],
    ['src/features/chat/a.ts', "ApiProperty({ example: 'openai' });"],
    ['src/features/chat/a.ts', "process.on('exit', stop);"],
    [ENVIRONMENT, 'export const environment = process.env;'],
    ['src/vendors/openai/openai.adapter.ts', "if (id === 'openai') run();"],
    ['src/features/chat/chat.controller.ts', "import type { Response } from 'express';"],
    ['src/features/jobs/jobs.dto.ts', 'class A { @StringField() b!: string; }'],
    ['src/platform/config/env.dto.ts', "import { IsString } from 'class-validator';"],
  ])('allows %s with %s', (path, text) => {
    expect(find(path, text)).toEqual([]);
  });

  it.each([
    ['src/features/chat/a.ts', "import { x } from '../customer/customer.module.js';"],
    ['src/features/chat/a.ts', "import { x } from '../../app/app.setup.js';"],
    ['src/core/alerts/a.ts', "import { x } from '../../operator/operator.module.js';"],
    ['src/core/request-log/a.ts', "import { x } from '../ledger/hold.js';"],
    ['src/core/routing/a.ts', "import type { Hold } from '../ledger/hold.js';"],
    ['src/core/routing/a.ts', "export * from '../ledger/hold.js';"],
    ['src/core/ledger/a.ts', "const later = import('../routing/plan.js');"],
    ['src/core/ledger/a.ts', "let plan: import('../routing/plan.js').Plan;"],
    ['src/vendors/a.ts', "import { x } from '../features/chat/chat.parse.js';"],
    ['src/platform/a.ts', "import { x } from '../canonical/usage.js';"],
    ['src/platform/a.ts', "import { x } from './no-such-file.js';"],
    ['src/platform/a.ts', "import { x } from '../../migrations/1764200000000-create-jobs.js';"],
    ['src/app/a.ts', "import { PAGES } from '../../console/src/pages.js';"],
    ['src/canonical/a.ts', "import { x } from '../platform/http/json-body.js';"],
    ['src/canonical/a.ts', "import type { X } from '../platform/http/read-body.js';"],
    ['src/canonical/a.ts', "import { x } from '../platform/errors/error-response.js';"],
    ['src/vendors/dialects/a.ts', "const maker = 'mistral';"],
    ['src/vendors/dialects/a.ts', "import { x } from '../sandbox/make-video.js';"],
    ['src/core/routing/a.ts', "import { x } from '../../vendors/sandbox/make-video.js';"],
    ['src/platform/config/a.ts', "const id = 'openai';"],
    ['src/features/messages/a.ts', "const maker = 'anthropic';"],
    ['src/features/messages/a.ts', "import { x } from '../chat/chat.render.js';"],
    ['src/features/admin/logs/a.ts', "import { x } from '../whoami/whoami.controller.js';"],
    ['src/newcomer/a.ts', "import { x } from '../platform/http/json-body.js';"],
    ['src/features/chat/a.ts', 'const port = process.env.PORT;'],
    ['src/features/chat/a.ts', "const port = process['env'].PORT;"],
    ['src/features/chat/a.ts', 'const { env } = process;'],
    ['src/features/chat/a.ts', "import { env } from 'node:process';"],
    ['src/features/chat/a.ts', "if (route.provider === 'openai') run();"],
    ['src/features/chat/a.ts', 'class AnthropicThing {}'],
    ['src/features/chat/a.ts', 'const model = `claude-${version}`;'],
    ['src/features/chat/chat.service.ts', "import type { Response } from 'express';"],
    ['src/features/jobs/jobs.dto.ts', "import { ApiProperty } from '@nestjs/swagger';"],
    ['src/features/jobs/a.controller.ts', "import { ApiProperty } from '@nestjs/swagger';"],
    ['src/features/jobs/jobs.dto.ts', "import { IsString } from 'class-validator';"],
  ])('rejects %s with %s', (path, text) => {
    expect(find(path, text)).toHaveLength(1);
  });

  it('rejects two files that import each other, even only types', () => {
    const pair = (keyword: string): SourceFile[] => [
      parseSourceFile('src/features/chat/a.ts', "import { b } from './b.js';"),
      parseSourceFile('src/features/chat/b.ts', `${keyword} { a } from './a.js';`),
    ];
    expect(findCycles(pair('import'))).toEqual([
      'src/features/chat/a.ts > src/features/chat/b.ts > src/features/chat/a.ts',
    ]);
    expect(findCycles(pair('import type'))).toHaveLength(1);
  });

  it('rejects two folders of core that import each other', () => {
    const cycle = [
      parseSourceFile('src/core/access/a.ts', "import type { B } from '../people/b.js';"),
      parseSourceFile('src/core/people/b.ts', 'export type B = 1;'),
      parseSourceFile('src/core/people/sessions/c.ts', "import { d } from '../../access/d.js';"),
    ];
    expect(findCycles(cycle)).toEqual([]);
    expect(findCycles(foldersOfCore(cycle))).toEqual([
      'src/core/access > src/core/people > src/core/access',
    ]);
  });
});

/** Returns the room and its folder: `features` and `chat` for `src/features/chat/chat.parse.ts`. */
function placeOf(path: string): { room: string; folder: string } {
  const [, room = '', folder = ''] = path.split('/');
  return { room: ENTRIES.includes(path) ? 'app' : room, folder };
}

function findImportsUpOrAcross({ path, imports }: SourceFile): string[] {
  const own = placeOf(path);
  const level = ROOMS.indexOf(own.room);
  if (level === -1) return [`${path} is not in a room`];
  return imports
    .filter(({ target }) => target.startsWith('src/'))
    .filter(({ target }) => {
      const { room, folder } = placeOf(target);
      if (room !== own.room) return !ROOMS.slice(0, level).includes(room);
      return (
        folder !== own.folder &&
        INDEPENDENT.some((one) => one.room === room && one.between(own.folder, folder))
      );
    })
    .map(({ target }) => `${path} imports ${target}`);
}

function findBrokenImports({ path, imports }: SourceFile): string[] {
  return imports
    .filter(({ target }) => {
      const isOwn = target.startsWith('src/');
      const isMigration = target.startsWith('migrations/') && path === MIGRATION_LIST;
      return !existsSync(target) || !(isOwn || isMigration);
    })
    .map(({ target }) => `${path} imports ${target}`);
}

function findCanonicalImports({ path, imports }: SourceFile): string[] {
  if (placeOf(path).room !== 'canonical') return [];
  return imports
    .filter(({ target }) => placeOf(target).room === 'platform' && target !== ERRORS)
    .filter(({ target }) => placeOf(target).folder !== 'text')
    .filter(({ target, isTypeOnly }) => target !== ONLY_TYPE_FROM_HTTP || !isTypeOnly)
    .map(({ target }) => `${path} imports ${target}`);
}

function findEnvironmentReads({ path, readsEnvironment }: SourceFile): string[] {
  return readsEnvironment && path !== ENVIRONMENT ? [`${path} reads the environment`] : [];
}

function findVendorNames({ path, tokens }: SourceFile): string[] {
  if (isOfVendor(path) || VENDOR_PLACES.some((place) => path.startsWith(place))) return [];
  const names = new Set(tokens.filter((token) => VENDORS.test(token)));
  return [...names].map((name) => `${path} names a vendor: ${name}`);
}

/** Returns whether the file is in a vendor's own folder. */
function isOfVendor(path: string): boolean {
  const { room, folder } = placeOf(path);
  return room === 'vendors' && path.split('/').length > 3 && !SHARED_BY_VENDORS.includes(folder);
}

/** Vendors may import each other, since one may sell another's models. */
function findVendorImports({ path, imports }: SourceFile): string[] {
  if (path === VENDOR_LIST || isOfVendor(path)) return [];
  return imports
    .filter(({ target }) => isOfVendor(target))
    .map(({ target }) => `${path} imports ${target}`);
}

function findExpressInServices({ path, tokens }: SourceFile): string[] {
  return path.endsWith('.service.ts') && tokens.includes('express')
    ? [`${path} knows Express`]
    : [];
}

function findSharedResources({ path, imports }: SourceFile): string[] {
  if (path.endsWith('.module.ts')) return [];
  return imports
    .filter(({ target }) => {
      const folder = RESOURCE_FOLDER.exec(target)?.[0];
      if (folder === undefined || SHARED_RESOURCES.includes(folder)) return false;
      return !path.startsWith(`${folder}/`);
    })
    .map(({ target }) => `${path} imports ${target}`);
}

/** Files outside of the HTTP API, such as settings, have no description and are validated only. */
function findBareFields({ path, tokens }: SourceFile): string[] {
  if (FIELD_DECORATORS.includes(path)) return [];
  const isDto = path.endsWith('.dto.ts') && !path.startsWith('src/platform/config/');
  const packages = ['@nestjs/swagger', ...(isDto ? ['class-validator'] : [])];
  if (!packages.some((name) => tokens.includes(name))) return [];
  const bare = tokens.find((token) => PARTS_OF_FIELDS.test(token));
  return bare === undefined ? [] : [`${path} declares a field with ${bare}`];
}

interface ImportNode {
  readonly path: string;
  readonly imports: readonly Pick<SourceFile['imports'][number], 'target'>[];
}

/** Returns the folders of `src/core` with what each imports from the others. */
function foldersOfCore(files: readonly SourceFile[]): ImportNode[] {
  const folderOf = (path: string): string => path.split('/').slice(0, 3).join('/');
  const inCore = files.filter(({ path }) => placeOf(path).room === 'core');
  return [...new Set(inCore.map(({ path }) => folderOf(path)))].map((folder) => ({
    path: folder,
    imports: inCore
      .filter(({ path }) => folderOf(path) === folder)
      .flatMap(({ imports }) => imports.map(({ target }) => ({ target: folderOf(target) })))
      .filter(({ target }) => target !== folder),
  }));
}

function findCycles(files: readonly ImportNode[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
      return;
    }
    if (done.has(path)) return;
    for (const { target } of byPath.get(path)?.imports ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}

/** Paths of all files in a folder of the project. */
function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath.replaceAll(sep, '/')}/${name}`);
}
