import 'reflect-metadata';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const DOCUMENT = 'docs/request-path.md';
const SECTION = '## From a URL to its folder';
const CODE = /`([^`]+)`/g;

interface Row {
  readonly path: string;
  readonly folder: string;
}

interface Route {
  readonly path: string;
  readonly file: string;
}

const section = readFileSync(DOCUMENT, 'utf8').split(SECTION)[1]!.split('\n## ')[0]!;
const rows = section
  .split('\n')
  .filter((line) => /^\| `\//.test(line))
  .flatMap((line): Row[] => {
    const [, paths = '', folder = ''] = line.split('|');
    return [...paths.matchAll(CODE)].map(([, path]) => ({
      path: path!,
      folder: `src/${/`([^`]+)`/.exec(folder)?.[1]}`,
    }));
  });

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => `src/${name.replaceAll(sep, '/')}`)
  .sort();
const { routes, controllers } = await readControllers();

describe('the table of URLs and folders', () => {
  it('has rows, and the service has routes', () => {
    expect(rows.length).toBeGreaterThan(15);
    expect(routes.length).toBeGreaterThan(50);
  });

  it('maps every route of every controller to its folder', () => {
    const astray = routes.flatMap(({ path, file }) => {
      const folder = rowOf(path)?.folder;
      return folder === `${posix.dirname(file)}/` ? [] : [`${path}: ${file}, not ${folder}`];
    });
    expect(astray).toEqual([]);
  });

  it('has no unused row', () => {
    const needed = new Set(routes.map(({ path }) => rowOf(path)));
    expect(rows.filter((row) => !needed.has(row))).toEqual([]);
  });

  it('covers all controllers that Nest serves', async () => {
    const served = new Set<unknown>();
    for (const path of files.filter((each) => each.endsWith('.module.ts'))) {
      for (const found of await exportedClasses(path)) {
        const some: unknown = Reflect.getMetadata('controllers', found);
        if (Array.isArray(some)) for (const controller of some) served.add(controller);
      }
    }
    expect(new Set(controllers)).toEqual(served);
  });

  it('names files that exist', () => {
    const named = [...section.matchAll(/`((?:features|core|canonical|app)\/[\w./-]+\.ts)`/g)];
    expect(named.length).toBeGreaterThan(5);
    expect(named.map(([, file]) => file!).filter((file) => !existsSync(`src/${file}`))).toEqual([]);
  });
});

describe('the walk from a URL to its price', () => {
  const walk = [...section.matchAll(/^\d\. `([^`]+)`/gm)].map(([, file]) => file!);

  it('has four files, the first in the folder of the URL and the last with the prices', () => {
    expect(walk).toHaveLength(4);
    expect(`src/${posix.dirname(walk[0]!)}/`).toBe(rowOf('/v1/audio/speech')?.folder);
    expect(walk.at(-1)).toBe('core/ledger/pricing.ts');
  });

  it('leads from each file to one that it names', () => {
    const silent = walk.slice(1).filter((file, index) => {
      const text = readFileSync(`src/${walk[index]!}`, 'utf8');
      return !text.includes(posix.basename(file, '.ts'));
    });
    expect(silent).toEqual([]);
  });
});

/** Returns the row with the longest path above a route, with or without `/api`. */
function rowOf(path: string): Row | undefined {
  const below = (candidate: string): Row[] =>
    rows.filter((row) => candidate === row.path || candidate.startsWith(`${row.path}/`));
  const found = [...below(path), ...below(path.replace(/^\/api\//, '/'))];
  return found.sort((one, other) => other.path.length - one.path.length)[0];
}

async function readControllers(): Promise<{ routes: Route[]; controllers: unknown[] }> {
  const routes: Route[] = [];
  const controllers: unknown[] = [];
  for (const file of files.filter((each) => each.endsWith('.controller.ts'))) {
    for (const controller of await exportedClasses(file)) {
      if (!Reflect.hasMetadata('path', controller)) continue;
      // Controllers of the process itself are in a private module of app.module.ts.
      if (!file.startsWith('src/app/')) controllers.push(controller);
      const bases = pathsOf(controller);
      for (const name of Object.getOwnPropertyNames(controller.prototype)) {
        const handler: unknown = Reflect.get(controller.prototype, name);
        if (typeof handler !== 'function' || !Reflect.hasMetadata('method', handler)) continue;
        for (const base of bases) {
          for (const path of pathsOf(handler)) {
            routes.push({ path: posix.join('/', base, path).replace(/(?<=.)\/$/, ''), file });
          }
        }
      }
    }
  }
  return { routes, controllers };
}

// Nest's types do not cover metadata of classes, which they treat as functions.
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type
function pathsOf(target: Function): string[] {
  const path: unknown = Reflect.getMetadata('path', target);
  return (Array.isArray(path) ? path : [path]).map(String);
}

interface Class {
  new (...args: never[]): unknown;
  readonly prototype: object;
}

function isClass(value: unknown): value is Class {
  return typeof value === 'function' && /^class\s/.test(Function.prototype.toString.call(value));
}

async function exportedClasses(file: string): Promise<Class[]> {
  // Shared with other suites, since loading all sources again is slow.
  const { importShared } = globalThis as unknown as SharedImports;
  const built = resolve('dist', file.replace(/\.ts$/, '.js'));
  return Object.values(await importShared(pathToFileURL(built).href)).filter(isClass);
}

/** See `test/support/shared-imports.environment.mjs`. */
interface SharedImports {
  importShared(address: string): Promise<Record<string, unknown>>;
}
