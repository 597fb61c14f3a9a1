import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { until } from '../support/until.js';

const API = { openapi: '3.1.0', info: { title: 'API', version: '1' }, paths: {} };

/** Replaces the compiler: writes the build results that scripts run. */
const COMPILER = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('dist/src/app', { recursive: true });
const api = readFileSync('src/api.json', 'utf8');
writeFileSync('dist/src/app/openapi.js', 'export const describeWithoutService = () => (' + api + ');');
writeFileSync('dist/src/cli.js', '');
writeFileSync('dist/src/main.js', 'console.log("listens"); setInterval(() => undefined, 1000);');
writeFileSync('dist/src/worker.js', '');
`;

/** Replaces Vite. The file \`trouble\` in its folder says how it fails. */
const VITE = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
appendFileSync('../runs', process.pid + ' ' + getPriority() + ' ' + process.env.NODE_ENV + '\\n');
const trouble = existsSync('../trouble') ? readFileSync('../trouble', 'utf8') : '';
if (trouble === 'hang') await new Promise(() => setInterval(() => undefined, 1000));
const place = process.argv[process.argv.indexOf('--outDir') + 1];
mkdirSync(join(place, 'assets'), { recursive: true });
writeFileSync(join(place, 'assets/main-1.js'), 'const answer = 42;\\n'.repeat(100));
if (trouble === 'fail') {
  console.error('There is no such import');
  process.exit(1);
}
writeFileSync(join(place, 'index.html'), readFileSync('src/main.tsx', 'utf8'));
`;

/** Replaces the generator of API types, whose compiler takes long to load. */
const TYPES = `
export default (description) => Promise.resolve(description);
export const astToString = (description) => 'export type paths = ' + JSON.stringify(description);
`;

/** A lock file with nothing to install. */
const LOCK = JSON.stringify({ name: 'x', lockfileVersion: 3, packages: { '': { name: 'x' } } });

let root: string;
let started: ChildProcess[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gateway-console-build-'));
  started = [];
  await cp('scripts', join(root, 'scripts'), { recursive: true });
  const files = {
    'package.json': '{ "type": "module" }',
    'package-lock.json': LOCK,
    'node_modules/.package-lock.json': '{}',
    'node_modules/@swc/cli/bin/swc.js': COMPILER,
    'node_modules/@swc/cli/package.json': '{ "type": "module" }',
    'src/api.json': JSON.stringify(API),
    'node_modules/openapi-typescript/index.js': TYPES,
    'node_modules/openapi-typescript/package.json': '{ "type": "module", "exports": "./index.js" }',
    'console/package.json': '{ "type": "module" }',
    'console/package-lock.json': LOCK,
    'console/src/main.tsx': 'the first',
    'console/src/api/client.ts': '',
    'console/node_modules/.package-lock.json': '{}',
    'console/node_modules/vite/bin/vite.js': VITE,
    'console/node_modules/vite/package.json': '{ "type": "module" }',
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  await link('esbuild');
});

afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
  // A builder that ends with its service may still be writing.
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** Links the package that is really installed. */
async function link(name: string): Promise<void> {
  const path = join('node_modules', name);
  await rm(join(root, path), { recursive: true, force: true });
  await symlink(join(process.cwd(), path), join(root, path));
}

interface Run {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

function run(script: string, environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [join(root, 'scripts', script)], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let output = '';
  const read = (chunk: Buffer): string => (output += chunk.toString());
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  return {
    child,
    output: () => output,
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

async function build(): Promise<{ code: number | null; output: string }> {
  const one = run('console.mjs');
  return { code: await one.ended, output: one.output() };
}

/** Returns process, priority and NODE_ENV of each Vite run. */
async function packings(): Promise<{ pid: number; priority: number; surroundings?: string }[]> {
  if (!existsSync(join(root, 'runs'))) return [];
  const lines = (await readFile(join(root, 'runs'), 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const [pid, priority, surroundings] = line.split(' ');
    return { pid: Number(pid), priority: Number(priority), surroundings };
  });
}

const index = (): Promise<string> => readFile(join(root, 'dist/console/index.html'), 'utf8');
const state = async (): Promise<{ step?: string; problem?: string }> =>
  JSON.parse(await readFile(join(root, 'dist/.console-state.json'), 'utf8')) as { step?: string };

describe('console build', () => {
  it('writes compressed files and the API types, once', async () => {
    await link('openapi-typescript');
    expect(await build()).toMatchObject({ code: 0, output: expect.stringContaining('Console bu') });
    expect(await index()).toBe('the first');
    const asset = join(root, 'dist/console/assets/main-1.js');
    const bytes = await readFile(asset);
    expect(brotliDecompressSync(await readFile(`${asset}.br`))).toEqual(bytes);
    expect(gunzipSync(await readFile(`${asset}.gz`))).toEqual(bytes);
    const schema = await readFile(join(root, 'console/src/api/schema.d.ts'), 'utf8');
    expect(schema).toContain('export type paths');
    expect(existsSync(join(root, 'dist/.console-state.json'))).toBe(false);

    expect(await build()).toEqual({ code: 0, output: '' });
    expect(await packings()).toMatchObject([{ surroundings: 'production' }]);
  });

  it('rebuilds when its sources or the API change, but not for other changes of the service', async () => {
    await build();
    await write('console/src/main.tsx', 'the second');
    await build();
    expect(await index()).toBe('the second');
    await write('src/inner.ts', '');
    await build();
    // The service itself was rebuilt.
    expect(await index()).toBe('the second');
    expect(await packings()).toHaveLength(2);
    await write('src/api.json', JSON.stringify({ ...API, paths: { '/new': {} } }));
    await build();
    expect(await packings()).toHaveLength(3);
    await write('console/src/main.spec.ts', '');
    expect(await build()).toEqual({ code: 0, output: '' });
  });

  it('is built once by concurrent processes', async () => {
    const builds = await Promise.all([build(), build(), build()]);
    expect(builds.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await packings()).toHaveLength(1);
    expect(await index()).toBe('the first');
  });

  it('keeps the previous build when it fails, and reports why', async () => {
    await build();
    await write('console/src/main.tsx', 'the second');
    await write('trouble', 'fail');
    const { code, output } = await build();
    expect([code, output]).toEqual([1, expect.stringContaining('There is no such import')]);
    expect(await state()).toMatchObject({ problem: 'vite build failed: There is no such import' });
    expect(await index()).toBe('the first');
    await rm(join(root, 'trouble'));
    await build();
    expect(await index()).toBe('the second');
    expect(existsSync(join(root, 'dist/.console-state.json'))).toBe(false);
  });

  it('reports a network failure of the installation', async () => {
    const packages = {
      '': { name: 'x', dependencies: { 'left-pad': '1.0.0' } },
      'node_modules/left-pad': { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` },
    };
    await write('console/package.json', JSON.stringify(packages['']));
    await write('console/package-lock.json', JSON.stringify({ ...JSON.parse(LOCK), packages }));
    const { ended, output } = run('console.mjs', {
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_fetch_retries: '0',
    });
    expect(await ended).toBe(1);
    await until(() => output().includes('npm ci failed'));
    expect(await state()).toMatchObject({
      problem: 'the package registry cannot be reached (ECONNREFUSED)',
    });
  });
});

describe('npm start', () => {
  it('builds the console after the service has started, at low priority', async () => {
    const { output } = run('start.mjs');
    await until(() => output().includes('Console built'));
    expect(output().indexOf('listens')).toBeLessThan(output().indexOf('Console built'));
    expect((await packings()).map(({ priority }) => priority)).toEqual([19]);
    await until(() => !existsSync(join(root, 'dist/.console-state.json')));

    const second = run('start.mjs');
    await until(() => second.output().includes('listens'));
    expect(second.output().trim()).toBe('listens');
  });

  it('keeps running and prints a line when the build fails', async () => {
    await write('trouble', 'fail');
    const { child, output } = run('start.mjs');
    await until(() => output().includes('could not be built'));
    const lines = output()
      .split('\n')
      .filter((line) => line.includes('console'));
    expect(lines).toEqual([
      'The console could not be built: vite build failed: There is no such import. The service runs without it; npm run build:console tries again.',
    ]);
    expect(await state()).toHaveProperty('problem');
    expect(child.exitCode).toBeNull();
  });

  it('leaves no builder running, however it ends', async () => {
    await write('trouble', 'hang');
    const { child, output } = run('start.mjs');
    await until(async () => (await packings()).length === 1);
    expect(output()).toContain('listens');
    expect(await state()).toMatchObject({ step: 'bundling' });
    child.kill('SIGKILL');
    const pid = (await packings())[0]!.pid;
    await until(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
    // The next build takes over the lock.
    await rm(join(root, 'trouble'));
    expect((await build()).code).toBe(0);
    expect(await index()).toBe('the first');
  });

  it('starts in a read-only folder and reports it', async () => {
    await build();
    await appendFile(join(root, 'console/src/main.tsx'), ', changed');
    // Like a read-only disk: the state file cannot be written.
    await mkdir(join(root, 'dist/.console-state.json'));
    const { output } = run('start.mjs');
    await until(() => output().includes('listens'));
    await until(() => output().includes('nothing can be written here'));
    expect(await index()).toBe('the first');
    expect(await packings()).toHaveLength(1);
  });

  it('builds nothing when the console is off', async () => {
    const { output } = run('start.mjs', { GATEWAY_CONSOLE: 'off' });
    await until(() => output().includes('listens'));
    expect(existsSync(join(root, 'dist/.console-state.json'))).toBe(false);
    expect(existsSync(join(root, 'runs'))).toBe(false);
  });
});
