import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { nobodyAccount } from '../../src/platform/database/cluster-location.js';
import { attachEmbeddedPostgres } from '../../src/platform/database/embedded-postgres.js';
import { isProcessRunning, processSpace } from '../../src/platform/database/processes.js';
import {
  EmbeddedPostgresScene,
  eventually,
  installLauncher,
  isRoot,
  postmasterOf,
  query,
  socketsIn,
} from '../support/embedded-postgres-service.js';
import { within } from '../support/within.js';

describe('the embedded PostgreSQL after a failure', () => {
  const scene = new EmbeddedPostgresScene();
  const { cluster } = scene;
  const lockFile = join(dirname(cluster), 'owner.lock');
  const sleepers: ChildProcess[] = [];

  /** Starts an unrelated process of the account that PostgreSQL runs as. */
  function startUnrelatedProcess(): number {
    const account = isRoot ? nobodyAccount() : undefined;
    const child = spawn('sleep', ['60'], { stdio: 'ignore', ...account });
    sleepers.push(child);
    return child.pid ?? 0;
  }

  function childrenOf(pid: number): number[] {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.trim().split(/\s+/).filter(Boolean).map(Number);
  }

  async function countRows(url: string): Promise<number> {
    const [row] = await query(url, 'SELECT count(*)::int AS rows FROM kept');
    return row?.rows as number;
  }

  beforeAll(async () => {
    installLauncher(scene.launcher);
    const { url } = await scene.start();
    await query(url, 'CREATE TABLE kept (value int)');
    await query(url, 'CREATE TABLE frozen (value int)');
    await scene.stopAll();
  });
  afterEach(async () => {
    await scene.stopAll();
    sleepers.splice(0).forEach((child) => child.kill('SIGKILL'));
  });
  afterAll(() => scene.remove());

  it('takes over from a killed service and ends the PostgreSQL it left behind', async () => {
    const killed = await scene.startService();
    await query(killed.url, 'INSERT INTO kept VALUES (1)');
    const leftover = postmasterOf(cluster);
    await killed.kill('SIGKILL');
    expect(isProcessRunning(leftover)).toBe(true);

    const next = await scene.startService();
    expect(next.log).toEqual([
      `Stopping a PostgreSQL that outlived its service (process ${leftover})`,
    ]);
    expect(isProcessRunning(leftover)).toBe(false);
    expect(await countRows(next.url)).toBe(1);
  });

  it('recovers committed data when both were killed', async () => {
    const killed = await scene.startService();
    await query(killed.url, 'INSERT INTO kept VALUES (2)');
    process.kill(postmasterOf(cluster), 'SIGSTOP');
    await killed.kill('SIGKILL');
    process.kill(postmasterOf(cluster), 'SIGKILL');
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(true);

    const { url } = await scene.start();
    expect(await countRows(url)).toBe(2);
    const { port } = new URL(url);
    expect(socketsIn(cluster)).toEqual([`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`]);
  });

  it('ends a frozen PostgreSQL with all of its children, and loses nothing', async () => {
    const service = await scene.start();
    await query(service.url, 'INSERT INTO frozen VALUES (1)');
    const postmaster = postmasterOf(cluster);
    for (const pid of [postmaster, ...childrenOf(postmaster)]) process.kill(pid, 'SIGSTOP');
    await within(60_000, service.stop());
    expect(isProcessRunning(postmaster)).toBe(false);
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(false);
    const { url } = await scene.start();
    expect(await query(url, 'SELECT value FROM frozen')).toEqual([{ value: 1 }]);
  });

  it('restarts a killed PostgreSQL on the same port, so that pools reconnect', async () => {
    const lines: string[] = [];
    const { url } = await scene.start({ log: (line) => lines.push(line) });
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined);
    await pool.query('INSERT INTO kept VALUES (3)');
    for (const round of [1, 2]) {
      process.kill(postmasterOf(cluster), 'SIGKILL');
      await eventually(() => expect(lines).toHaveLength(2 * round));
      const { rows } = await eventually(() => pool.query('SELECT value FROM kept'));
      expect(rows).toHaveLength(3);
    }
    expect(lines.slice(0, 2)).toEqual([
      'PostgreSQL ended unexpectedly: it ended by SIGKILL. Restarting it',
      'PostgreSQL is running again',
    ]);
    await pool.end();
  });

  it('stops promptly while it is restarting PostgreSQL', async () => {
    const postgres = await scene.start();
    const before = postmasterOf(cluster);
    process.kill(before, 'SIGKILL');
    await eventually(() => expect(isProcessRunning(before)).toBe(false));
    await within(60_000, postgres.stop());
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
  });

  it('leaves no PostgreSQL running when Node exits without stopping it', async () => {
    const service = await scene.startService({ exitEarly: true });
    expect(service.url).not.toBe('');
    await eventually(() => expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(false));
  });

  it('takes over a lock whose process id now belongs to another program', async () => {
    writeFileSync(
      lockFile,
      JSON.stringify({
        kind: 'service',
        pid: startUnrelatedProcess(),
        startMark: 'boot:1',
        space: processSpace(),
        token: 'old',
      }),
    );
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
    expect(JSON.parse(readFileSync(lockFile, 'utf8'))).toMatchObject({ pid: process.pid });
  });

  it('respects a lock from another container while its owner touches it', async () => {
    const owner = { kind: 'service', pid: 1, startMark: 'boot:1', space: 'other', token: 'far' };
    writeFileSync(lockFile, JSON.stringify(owner));
    const beating = setInterval(() => utimesSync(lockFile, new Date(), new Date()), 500);
    const refusal = 'in use by another gateway (process 1 in another container';
    await expect(scene.start()).rejects.toThrow(refusal);
    const { dataDirectory } = scene;
    await expect(attachEmbeddedPostgres({ dataDirectory })).rejects.toThrow(refusal);
    clearInterval(beating);
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
    const { mtimeMs } = statSync(lockFile);
    await eventually(() => expect(statSync(lockFile).mtimeMs).toBeGreaterThan(mtimeMs));
  });

  it('takes over an unreadable lock', async () => {
    writeFileSync(lockFile, '{"kind":');
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
  });

  it('starts when the process id in postmaster.pid now belongs to another program', async () => {
    const unrelated = startUnrelatedProcess();
    writeFileSync(
      join(cluster, 'postmaster.pid'),
      `${unrelated}\n${cluster}\n1700000000\n20000\n\n127.0.0.1\n  0         0\nready   \n`,
    );
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
    expect(isProcessRunning(unrelated)).toBe(true);
  });

  it('sets a new password when the password file was lost', async () => {
    rmSync(join(scene.dataDirectory, 'postgres-password'));
    const { url } = await scene.start();
    expect(await countRows(url)).toBe(3);
  });

  it('starts over after a first start that was killed halfway', async () => {
    const dataDirectory = join(scene.folder, 'interrupted');
    const parent = join(dataDirectory, 'postgres');
    const killed = scene.spawnService({ dataDirectory });
    await eventually(() => {
      const unfinished = readdirSync(parent).find((name) => /unfinished-\w+$/.test(name));
      expect(existsSync(join(parent, unfinished ?? '', 'base'))).toBe(true);
    });
    await killed.kill('SIGKILL');
    expect(existsSync(join(parent, 'cluster'))).toBe(false);

    const { url } = await scene.start({ dataDirectory });
    expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name: 'gateway' }]);
    await scene.stopAll();
    await eventually(async () => {
      await (await scene.start({ dataDirectory })).stop();
      expect(readdirSync(parent).sort()).toEqual(['cluster', 'postgres.log']);
    });
  });
});
