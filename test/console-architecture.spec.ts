import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { parseSourceFile, type SourceFile } from './support/source-files.js';

const FOLDER = 'console/src';

/**
 * The layers of the console, lowest first. A file imports from its own layer and those before it.
 * `subject` is every other folder: components shared by several pages, named after their subject.
 */
const ROOMS = ['format', 'ui', 'api', 'session', 'shell', 'subject', 'pages', 'root'];
/** The menu's entries, each of which loads its page on demand. */
const PAGE_LIST = `${FOLDER}/pages.ts`;
/** Generated from the API's description. */
const GENERATED = `${FOLDER}/api/schema.d.ts`;

const MAX_LINES = 300;

const RULES: [string, (file: SourceFile) => string[]][] = [
  ['imports go down the layers only, and pages do not import each other', upwards],
  ['an import names a file of the console', broken],
];

const sources = (pattern: RegExp): string[] =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => `${FOLDER}/${name.replaceAll(sep, '/')}`)
    .filter((path) => path !== GENERATED)
    .sort();

const read = (path: string): SourceFile => parseSourceFile(path, readFileSync(path, 'utf8'));

describe('the layout of the console', () => {
  const files = sources(/(?<!\.spec)\.tsx?$/).map(read);

  it('is read completely', () => {
    expect(files.length).toBeGreaterThan(80);
    expect(files.flatMap((file) => file.imports).length).toBeGreaterThan(200);
  });

  it.each(RULES)('%s', (_name, find) => {
    expect(files.flatMap(find)).toEqual([]);
  });

  it('has no import cycles, not even for types', () => {
    expect(findCycle(files)).toBeUndefined();
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const lines = (path: string): number => readFileSync(path, 'utf8').trimEnd().split('\n').length;
    const long = sources(/\.tsx?$/).filter((path) => lines(path) > MAX_LINES);
    expect(long).toEqual([]);
  });
});

describe('each layout rule', () => {
  const find = (path: string, text: string): string[] => {
    const file = parseSourceFile(`${FOLDER}/${path}`, text);
    return RULES.flatMap(([, rule]) => rule(file));
  };

  it.each([
    ['pages/keys/keys.page.tsx', "import { Page } from '../../ui';"],
    ['pages/keys/keys.page.tsx', "import { KeyList } from './key-list';"],
    ['shell/palette.tsx', "import { PAGES } from '../pages';"],
    ['pages.ts', "const load = () => import('./pages/keys/keys.page');"],
    ['requests/curl.ts', "import { changes } from '../parts/changes';"],
    ['api/client.ts', "import type { paths } from './schema';"],
    ['main.tsx', "import './ui/kit.css';"],
  ])('allows %s with %s', (path, text) => {
    expect(find(path, text)).toEqual([]);
  });

  it.each([
    ['pages/keys/keys.page.tsx', "import { MonthList } from '../billing/months';"],
    ['pages/keys/keys.page.tsx', "import { PAGES } from '../../pages';"],
    ['ui/button.tsx', "import { api } from '../api/client';"],
    ['ui/button.tsx', "import type { Session } from '../session/session';"],
    ['parts/changes.tsx', "import { KeyList } from '../pages/keys/key-list';"],
    ['api/client.ts', "import { useSession } from '../session/session';"],
    ['api/client.ts', "import { sendBytes } from '../../../src/platform/http/send-body.js';"],
    ['api/client.ts', "import { nothing } from './no-such-file';"],
  ])('rejects %s with %s', (path, text) => {
    expect(find(path, text)).toHaveLength(1);
  });

  it('rejects two files that import each other', () => {
    const pair = ['months', 'ledger'].map((name, index) => {
      const other = ['ledger', 'months'][index];
      return parseSourceFile(
        `${FOLDER}/pages/billing/${name}.tsx`,
        `import type { A } from './${other}';`,
      );
    });
    expect(findCycle(pair)).toContain(' > ');
  });
});

/** Resolves an import without an extension like Vite; undefined if there is no such console file. */
function resolve(target: string): string | undefined {
  if (!isOfConsole({ target })) return undefined;
  if (target === GENERATED.replace('.d.ts', '')) return GENERATED;
  const endings = ['.ts', '.tsx', '/index.ts', ''];
  const ending = endings.find((each) => existsSync(target + each));
  return ending === undefined ? undefined : target + ending;
}

function isOfConsole({ target }: { target: string }): boolean {
  return target.startsWith(`${FOLDER}/`);
}

/** Returns the layer and the page: `console/src/pages/keys/key-list.tsx` is in layer `pages`, page `keys`. */
function placeOf(path: string): { level: number; page: string | undefined } {
  const [first = '', second, ...others] = path.slice(FOLDER.length + 1).split('/');
  const room = second === undefined ? 'root' : ROOMS.includes(first) ? first : 'subject';
  const isPage = room === 'pages' && others.length > 0;
  return { level: ROOMS.indexOf(room), page: isPage ? second : undefined };
}

function upwards({ path, imports }: SourceFile): string[] {
  const own = placeOf(path);
  return imports
    .map(({ target }) => resolve(target) ?? path)
    .filter((target) => {
      const { level, page } = placeOf(target);
      if (target === PAGE_LIST && level > own.level) return own.page !== undefined;
      return level > own.level || (level === own.level && page !== own.page);
    })
    .map((target) => `${path} imports ${target}`);
}

function broken({ path, imports }: SourceFile): string[] {
  return imports
    .filter(({ target }) => resolve(target) === undefined)
    .map(({ target }) => `${path} imports ${target}`);
}

/** Returns the first import cycle. The page list loads pages on demand, so it causes none. */
function findCycle(files: readonly SourceFile[]): string | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' > ');
    if (done.has(path) || path === PAGE_LIST) return undefined;
    done.add(path);
    for (const { target } of byPath.get(path)?.imports ?? []) {
      const cycle = visit(resolve(target) ?? target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  for (const { path } of files) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
