import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { findBlocked, nobodyAccount } from '../../src/platform/database/cluster-location.js';
import {
  EmbeddedPostgresScene,
  installLauncher,
  isRoot,
  query,
  ServiceProcess,
} from '../support/embedded-postgres-service.js';

const describeAsRoot = isRoot ? describe : describe.skip;

describe('the embedded PostgreSQL without its binaries', () => {
  const scene = new EmbeddedPostgresScene();
  afterAll(() => scene.remove());

  it('requests a DATABASE_URL', async () => {
    installLauncher(scene.launcher, { withBinaries: false });
    const { error } = await scene.startService();
    expect(error).toMatch(/^No embedded PostgreSQL is installed .*\. Set DATABASE_URL/);
  });
});

describeAsRoot('the embedded PostgreSQL as root', () => {
  const scene = new EmbeddedPostgresScene();
  const nobody = nobodyAccount();
  const closed = join(scene.folder, 'closed');
  const fallbackRoot = join(scene.folder, 'fallback');
  const unreachable = { dataDirectory: join(closed, 'data'), fallbackRoot };
  const pointer = join(unreachable.dataDirectory, 'postgres-location');

  beforeAll(() => {
    installLauncher(scene.launcher);
    mkdirSync(closed, { mode: 0o700 });
  });
  afterEach(() => scene.stopAll());
  afterAll(() => scene.remove());

  it('runs as nobody, with the cluster in the data folder when nobody has access', async () => {
    const { url } = await scene.start({ fallbackRoot });
    expect(statSync(scene.cluster)).toMatchObject({ uid: nobody.uid, gid: nobody.gid });
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    // When nobody cannot enter the checkout, such as root's home, the programs are copied; the data never.
    const isClosed = findBlocked(realpathSync('node_modules'), nobody) !== undefined;
    expect(existsSync(fallbackRoot) ? readdirSync(fallbackRoot) : []).toEqual(
      isClosed ? ['postgres-binaries'] : [],
    );
    expect(readdirSync(scene.dataDirectory).sort()).toEqual(['postgres', 'postgres-password']);
  });

  it('starts a cluster that belongs to root, such as after a restored backup', async () => {
    chownSync(scene.cluster, 0, 0);
    chownSync(join(scene.cluster, 'PG_VERSION'), 0, 0);
    await scene.start();
    expect(statSync(join(scene.cluster, 'PG_VERSION')).uid).toBe(nobody.uid);
  });

  it('puts the cluster elsewhere when nobody cannot access the data folder, and finds it again', async () => {
    const { url } = await scene.start(unreachable);
    const location = readFileSync(pointer, 'utf8').trim();
    expect(location).toMatch(new RegExp(`^${fallbackRoot}/[0-9a-f]{16}$`));
    expect(statSync(join(location, 'cluster')).uid).toBe(nobody.uid);
    expect(readFileSync(join(location, 'belongs-to'), 'utf8')).toBe(
      `${unreachable.dataDirectory}\n`,
    );
    await query(url, 'CREATE TABLE kept ()');
    await scene.stopAll();
    const again = await scene.start(unreachable);
    expect(await query(again.url, 'SELECT * FROM kept')).toEqual([]);
    expect(readFileSync(pointer, 'utf8').trim()).toBe(location);
  });

  it('reports in the data folder and at each start that the data is elsewhere', async () => {
    const location = readFileSync(pointer, 'utf8').trim();
    const note = join(unreachable.dataDirectory, 'DATABASE-IS-NOT-HERE.txt');
    rmSync(note);
    const log: string[] = [];
    await scene.start({ ...unreachable, log: (line) => log.push(line) });
    expect(log).toEqual([
      `The database is not in the data folder ${unreachable.dataDirectory} but in ${location}: ` +
        'a copy of the data folder is no copy of the data (docs/backup.md)',
    ]);
    expect(readFileSync(note, 'utf8')).toContain(location);
    expect(readFileSync(note, 'utf8')).toContain('A COPY OF THIS FOLDER IS NO COPY OF THE DATA');
  });

  it("rejects a copy of the data folder rather than opening the original's database", async () => {
    const dataDirectory = join(closed, 'copy');
    cpSync(unreachable.dataDirectory, dataDirectory, { recursive: true });
    await expect(scene.start({ dataDirectory, fallbackRoot })).rejects.toThrow(
      `${dataDirectory} is a copy of ${unreachable.dataDirectory} without data of its own`,
    );
    rmSync(dataDirectory, { recursive: true });
    await scene.start(unreachable);
  });

  it('keeps the data when the data folder is moved', async () => {
    const dataDirectory = join(closed, 'moved');
    renameSync(unreachable.dataDirectory, dataDirectory);
    const { url } = await scene.start({ dataDirectory, fallbackRoot });
    expect(await query(url, 'SELECT * FROM kept')).toEqual([]);
    await scene.stopAll();
    renameSync(dataDirectory, unreachable.dataDirectory);
  });

  it('reports a missing cluster elsewhere rather than starting with an empty one', async () => {
    const location = readFileSync(pointer, 'utf8').trim();
    renameSync(location, `${location}.away`);
    await expect(scene.start(unreachable)).rejects.toThrow(
      new RegExp(
        `The database folder ${location} is missing. Put it back, or delete the file ${pointer} .*` +
          'a copy of it has no data',
      ),
    );
    renameSync(`${location}.away`, location);
  });

  it('starts with an empty database when the data folder was deleted', async () => {
    rmSync(unreachable.dataDirectory, { recursive: true });
    const { url } = await scene.start(unreachable);
    expect(await query(url, `SELECT to_regclass('kept') AS name`)).toEqual([{ name: null }]);
  });

  it('requests access when the folder of an existing cluster was closed', async () => {
    chmodSync(scene.dataDirectory, 0o700);
    await expect(scene.start({ fallbackRoot })).rejects.toThrow(
      `Allow passing through ${scene.dataDirectory} (chmod o+x)`,
    );
    chmodSync(scene.dataDirectory, 0o711);
  });

  it('copies the binaries once when nobody cannot access them, with the links they need', async () => {
    const launcher = join(closed, 'code');
    installLauncher(launcher);
    const copies = join(fallbackRoot, 'postgres-binaries');
    for (const round of [1, 2]) {
      const service = ServiceProcess.spawn(launcher, {
        dataDirectory: scene.dataDirectory,
        fallbackRoot,
      });
      await service.settled();
      expect({ round, error: service.error }).toEqual({ round, error: '' });
      await service.kill('SIGTERM');
    }
    const [copy, ...others] = readdirSync(copies);
    expect(others).toEqual([]);
    expect(copy).toMatch(/^linux-\w+-\d+\.\d+/);
    const links = readdirSync(join(copies, copy!, 'native', 'lib')).filter((name) =>
      lstatSync(join(copies, copy!, 'native', 'lib', name)).isSymbolicLink(),
    );
    expect(links).toContain('libicuuc.so.60');
  });

  it('runs for a normal user as that user', async () => {
    const home = join(scene.folder, 'home');
    mkdirSync(home, { mode: 0o700 });
    chownSync(home, nobody.uid, nobody.gid);
    // The binaries are read-only for this user and lack the links they need.
    const dataDirectory = join(home, 'data');
    const service = await scene.startService({ dataDirectory, fallbackRoot }, nobody.uid);
    expect(service.error).toBe('');
    expect(await query(service.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(statSync(dataDirectory)).toMatchObject({ uid: nobody.uid });
    expect(statSync(dataDirectory).mode & 0o777).toBe(0o700);
    await service.kill('SIGTERM');

    // Root runs it as its owner and leaves the files to the owner.
    await (await scene.start({ dataDirectory, fallbackRoot })).stop();
    const again = await scene.startService({ dataDirectory, fallbackRoot }, nobody.uid);
    expect(again.error).toBe('');
  });

  it('tells a normal user that the cluster belongs to another user', async () => {
    const user = nobody.uid - 1;
    chmodSync(scene.dataDirectory, 0o755);
    const { error } = await scene.startService({ fallbackRoot }, user);
    expect(error).toMatch(`belongs to the user with id ${nobody.uid}. Start the gateway as root`);
  });
});
