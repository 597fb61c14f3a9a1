import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  attachEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded-postgres.js';
import {
  EmbeddedPostgresError,
  locateCluster,
} from '../../src/platform/database/cluster-location.js';
import { preparePostgresBinaries } from '../../src/platform/database/postgres-binaries.js';
import { appendToLog, PostgresProgram } from '../../src/platform/database/postgres-program.js';
import { PostgresServer } from '../../src/platform/database/postgres-server.js';
import {
  EmbeddedPostgresScene,
  eventually,
  installLauncher,
  postmasterOf,
  query,
  socketsIn,
} from '../support/embedded-postgres-service.js';
import { within } from '../support/within.js';

describe('the embedded PostgreSQL', () => {
  const scene = new EmbeddedPostgresScene();
  const { dataDirectory, cluster } = scene;

  beforeAll(async () => {
    installLauncher(scene.launcher);
    const postgres = await scene.start();
    await query(postgres.url, `CREATE TABLE kept AS SELECT 'first' AS value`);
    await postgres.stop();
  });
  afterEach(() => scene.stopAll());
  afterAll(() => scene.remove());

  it('provides a UTF-8 database named gateway, with durable commits and earlier data', async () => {
    const { url } = await scene.start();
    expect(withoutSocket(url)).toMatch(
      /^postgres:\/\/gateway:[\w-]{32}@127\.0\.0\.1:\d+\/gateway$/,
    );
    const settings = `SELECT current_user AS user, rolsuper AS super, value,
        current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS commit, current_setting('max_connections') AS limit
      FROM pg_roles, kept WHERE rolname = current_user`;
    expect(await query(url, settings)).toEqual([
      {
        user: 'gateway',
        super: false,
        value: 'first',
        encoding: 'UTF8',
        fsync: 'on',
        commit: 'on',
        limit: '200',
      },
    ]);
  });

  it('keeps the password in a file that only its owner can read, and requires it', async () => {
    const { url } = await scene.start();
    const file = join(dataDirectory, 'postgres-password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(new URL(url).password);
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('listens on 127.0.0.1 only', async () => {
    const { url } = await scene.start();
    const port = Number(new URL(url).port);
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((address) => address?.family === 'IPv4' && !address.internal)
      .map((address) => address!.address);
    expect(await accepts('127.0.0.1', port)).toBe(true);
    for (const address of ['127.0.0.2', ...others]) {
      expect({ address, open: await accepts(address, port) }).toEqual({ address, open: false });
    }
  });

  it('is reachable through a socket in its cluster folder, and through TCP', async () => {
    const { url, stop } = await scene.start();
    const { port, searchParams } = new URL(url);
    expect(searchParams.get('host')).toBe(cluster);
    expect(await query(url, SERVER_ADDRESS)).toEqual([{ address: null }]);
    expect(await query(withoutSocket(url), SERVER_ADDRESS)).toEqual([{ address: '127.0.0.1' }]);
    expect(socketsIn(cluster)).toEqual([`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`]);
    await stop();
    expect(socketsIn(cluster)).toEqual([]);
  });

  it('accepts a folder whose name looks like a list of folders to PostgreSQL', async () => {
    const odd = join(scene.folder, 'a "b", c');
    cpSync(dataDirectory, odd, { recursive: true });
    const { url } = await scene.start({ dataDirectory: odd });
    expect(await query(url, SERVER_ADDRESS)).toEqual([{ address: null }]);
  });

  it('works without a socket when the folder does not support it or its path is too long', async () => {
    const location = locateCluster({ dataDirectory });
    const binaries = await preparePostgresBinaries(location);
    const refusing = { ...binaries, folder: join(scene.folder, 'refusing') };
    mkdirSync(refusing.folder);
    writeFileSync(
      join(refusing.folder, 'postgres'),
      `#!/bin/sh
case "$*" in *unix_socket_directories=\\"*)
  echo 'FATAL:  could not create any Unix-domain sockets' >&2; exit 1;;
esac
exec '${binaries.folder}/postgres' "$@"
`,
      { mode: 0o755 },
    );
    const server = await PostgresServer.start({ ...location, binaries: refusing });
    try {
      expect(await query(server.url, SERVER_ADDRESS)).toEqual([{ address: '127.0.0.1' }]);
    } finally {
      await server.stop();
    }
    const long = join(scene.folder, 'ü'.repeat(40));
    cpSync(dataDirectory, long, { recursive: true });
    const { url } = await scene.start({ dataDirectory: long });
    expect(await query(url, SERVER_ADDRESS)).toEqual([{ address: '127.0.0.1' }]);
  });

  it('uses another port when the first one is taken', async () => {
    const location = locateCluster({ dataDirectory });
    const binaries = await preparePostgresBinaries(location);
    const folder = join(scene.folder, 'busy');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    writeFileSync(
      join(folder, 'postgres'),
      `#!/bin/sh
echo "$4" >> '${folder}/ports'
test $(wc -l < '${folder}/ports') -gt 1 && exec '${binaries.folder}/postgres' "$@"
echo 'FATAL:  could not create any TCP/IP sockets' >&2; exit 1
`,
      { mode: 0o755 },
    );
    const server = await PostgresServer.start({ ...location, binaries: { ...binaries, folder } });
    try {
      expect(await query(withoutSocket(server.url), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      const [first, second] = readFileSync(join(folder, 'ports'), 'utf8').split('\n');
      expect(new URL(server.url).port).toBe(second);
      expect(first).not.toBe(second);
    } finally {
      await server.stop();
    }
  });

  it('restricts access to the cluster folder again at each start', async () => {
    chmodSync(cluster, 0o755);
    await scene.start();
    expect(statSync(cluster).mode & 0o777).toBe(0o700);
  });

  it('stops while connections are open, however often it is asked', async () => {
    const postgres = await scene.start();
    const pool = new pg.Pool({ connectionString: postgres.url });
    pool.on('error', () => undefined);
    const [client] = await Promise.all([pool.connect(), pool.query('SELECT 1')]);
    client.on('error', () => undefined);
    await client.query('BEGIN; UPDATE kept SET value = value');
    await within(60_000, Promise.all([postgres.stop(), postgres.stop()]));
    await postgres.stop();
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(false);
    client.release(true);
    await pool.end();
  });

  it('runs in its own process group, so that Ctrl-C does not end it', async () => {
    await scene.start();
    const groupOf = (pid: number): string | undefined =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2];
    expect(groupOf(postmasterOf(cluster))).toBe(String(postmasterOf(cluster)));
    expect(groupOf(process.pid)).not.toBe(String(postmasterOf(cluster)));
  });

  it('does not pass the service’s environment to PostgreSQL', async () => {
    await scene.start();
    const environment = readFileSync(`/proc/${postmasterOf(cluster)}/environ`, 'utf8').split('\0');
    const names = environment.map((entry) => entry.split('=')[0]).filter(Boolean);
    expect(names.filter((name) => !/^(LC_\w+|PATH|PG\w+)$/.test(name!))).toEqual([]);
  });

  it('rejects a second service with one line that names the first, and leaves the first alone', async () => {
    const first = await scene.startService();
    const before = postmasterOf(cluster);
    const second = await scene.startService();
    expect(second.error).toBe(
      `The database in ${dataDirectory} is in use by another gateway (process ${first.pid}). ` +
        'Stop that one first, or set GATEWAY_DATA_DIR to another folder.',
    );
    await expect(startEmbeddedPostgres({ dataDirectory })).rejects.toThrow('in use by another');
    expect(await query(first.url, 'SELECT value FROM kept')).toHaveLength(1);
    expect(postmasterOf(cluster)).toBe(before);
  });

  it('gives the database to exactly one of several services that start at once', async () => {
    const services = await Promise.all([1, 2, 3].map(() => scene.startService()));
    expect(services.filter(({ url }) => url !== '')).toHaveLength(1);
    expect(services.filter(({ error }) => error.includes('in use by another'))).toHaveLength(2);
  });

  it('attaches a command to the running service and leaves it running afterwards', async () => {
    const service = await scene.startService();
    const attached = await attachEmbeddedPostgres({ dataDirectory });
    expect(attached.url).toBe(service.url);
    await attached.stop();
    expect(await query(service.url, 'SELECT value FROM kept')).toHaveLength(1);
  });

  it('starts the database for a command when no service runs, and makes a service wait for it', async () => {
    const command = await scene.startService({ attach: true });
    expect(await query(command.url, 'SELECT value FROM kept')).toHaveLength(1);
    const service = scene.spawnService();
    await eventually(() =>
      expect(service.log).toEqual([
        `Waiting for a command that uses the database (process ${command.pid})`,
      ]),
    );
    await command.kill('SIGTERM');
    await eventually(() => expect(service.url).not.toBe(''));
    expect(await query(service.url, 'SELECT value FROM kept')).toHaveLength(1);
  });

  it('reports why it does not start and where the log is, and starts when the cause is gone', async () => {
    const settings = join(cluster, 'postgresql.conf');
    const good = readFileSync(settings);
    appendFileSync(settings, '\nwork_mem = plenty\n');
    const failure = startEmbeddedPostgres({ dataDirectory });
    await expect(failure).rejects.toBeInstanceOf(EmbeddedPostgresError);
    await expect(failure).rejects.toThrow(
      /^PostgreSQL did not start: FATAL: .*\nSee .*\/postgres\.log$/,
    );
    writeFileSync(settings, good);
    const { url } = await scene.start();
    expect(await query(url, 'SELECT value FROM kept')).toHaveLength(1);
  });

  it('rejects a cluster of another version of PostgreSQL', async () => {
    const file = join(cluster, 'PG_VERSION');
    const version = readFileSync(file);
    writeFileSync(file, '12\n');
    const failure = startEmbeddedPostgres({ dataDirectory });
    await expect(failure).rejects.toThrow('was created by PostgreSQL 12, but version 18');
    writeFileSync(file, version);
  });

  it('writes PostgreSQL’s messages to a log, without what callers sent', async () => {
    const { url } = await scene.start();
    await expect(query(url, `SELECT 'hidden'::int`)).rejects.toMatchObject({ code: '22P02' });
    await expect(query(url, `SELECT secret FROM nowhere`)).rejects.toThrow();
    await scene.stopAll();
    const log = readFileSync(join(dataDirectory, 'postgres', 'postgres.log'), 'utf8');
    expect(log).toContain('relation "nowhere" does not exist');
    expect(log).toContain('database system is shut down');
    expect(log).not.toContain('SELECT secret');
  });

  it('limits the log to two files of the maximum size', async () => {
    const logFile = join(scene.folder, 'bounded.log');
    const write = (text: string): void => appendToLog({ logFile }, Buffer.from(text), 1_000);
    for (let line = 0; line < 100; line++) write(`line ${line} ${'x'.repeat(90)}\n`);
    write('y'.repeat(5_000));
    const files = readdirSync(scene.folder).filter((name) => name.startsWith('bounded'));
    expect(files.sort()).toEqual(['bounded.log', 'bounded.log.1']);
    expect(readFileSync(logFile, 'utf8')).toBe('y'.repeat(1_000));
    expect(readFileSync(`${logFile}.1`, 'utf8')).toContain('line 99');
    expect(statSync(`${logFile}.1`).size).toBeLessThanOrEqual(1_000);
  });

  it('stops logging when the program ended, even if its output is still open', async () => {
    const location = {
      ...locateCluster({ dataDirectory }),
      logFile: join(scene.folder, 'ended.log'),
      binaries: { folder: '/bin', majorVersion: '' },
    };
    const late = join(scene.folder, 'late');
    chmodSync(scene.folder, 0o777);
    const script = `trap '' PIPE
      (until test -e '${late}'; do sleep 0.01; done; echo late; rm '${late}') & echo early; wait`;
    const program = new PostgresProgram(location, 'sh', ['-c', script]);
    await eventually(() => expect(readFileSync(location.logFile, 'utf8')).toBe('early\n'));
    await program.end();
    writeFileSync(late, '');
    await eventually(() => expect(existsSync(late)).toBe(false));
    await program.closed;
    expect(readFileSync(location.logFile, 'utf8')).toBe('early\n');
  });
});

const SERVER_ADDRESS = 'SELECT host(inet_server_addr()) AS address';

function withoutSocket(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  return url.href;
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5_000 });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
