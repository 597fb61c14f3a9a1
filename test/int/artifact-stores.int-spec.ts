import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ArtifactIdError,
  ArtifactTooLargeError,
  type ArtifactStore,
} from '../../src/features/jobs/artifacts/artifact-store.js';
import { LocalArtifactStore } from '../../src/features/jobs/artifacts/local-artifact-store.js';
import { S3ArtifactStore } from '../../src/features/jobs/artifacts/s3-artifact-store.js';
import { readAll, sourceOf } from '../support/artifact-bytes.js';
import { startTestS3, type TestS3 } from '../support/s3-server.js';

const LIMIT = 64 * 1024 * 1024;

let folder: string;
let s3: TestS3;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-artifacts-'));
  s3 = await startTestS3(join(folder, 's3'));
});
afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Names of all stored files, except for multipart uploads, which the small S3 does not remove. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('uploads'))
    .map((entry) => entry.name);
}

const STORES: [string, () => ArtifactStore][] = [
  ['a folder', () => new LocalArtifactStore(join(folder, 'local'))],
  ['a bucket', () => new S3ArtifactStore({ ...s3.config, redirect: false })],
];

describe.each(STORES)('artifacts in %s', (_name, make) => {
  let store: ArtifactStore;
  beforeAll(() => {
    store = make();
  });
  afterAll(async () => {
    await (store as LocalArtifactStore | S3ArtifactStore).onApplicationShutdown();
  });

  it('are returned unchanged', async () => {
    const big = randomBytes(12 * 1024 * 1024 + 7);
    const chunks = [big.subarray(0, 5), big.subarray(5, 9_000_000), big.subarray(9_000_000)];
    expect(await store.put('img_big', 'image/png', sourceOf(...chunks), LIMIT)).toEqual({
      bytes: big.length,
    });
    const opened = await store.open('img_big');
    expect(opened?.bytes).toBe(big.length);
    expect((await readAll(opened?.stream)).equals(big)).toBe(true);
  });

  it('may be empty', async () => {
    expect(await store.put('empty', 'image/png', sourceOf(), LIMIT)).toEqual({ bytes: 0 });
    const opened = await store.open('empty');
    expect(opened?.bytes).toBe(0);
    expect(await readAll(opened?.stream)).toHaveLength(0);
  });

  it('can be read in part', async () => {
    await store.put('part', 'text/plain', sourceOf('0123456789'), LIMIT);
    const opened = await store.open('part', { start: 2, end: 4 });
    expect(opened?.bytes).toBe(10);
    expect((await readAll(opened?.stream)).toString()).toBe('234');
  });

  it('do not exist before they are stored and after they are removed, also twice', async () => {
    expect(await store.open('gone')).toBeUndefined();
    await store.remove('gone');
    await store.put('gone', 'text/plain', sourceOf('x'), LIMIT);
    await store.remove('gone');
    await store.remove('gone');
    expect(await store.open('gone')).toBeUndefined();
  });

  it('leave nothing when their source fails, early or late', async () => {
    const broken = new Error('the vendor hung up');
    const late = [Buffer.alloc(6 * 1024 * 1024), Buffer.alloc(1024 * 1024), broken];
    const before = (await filesBelow(folder)).length;
    await expect(store.put('half', 'a/b', sourceOf('x', broken), LIMIT)).rejects.toBe(broken);
    await expect(store.put('half', 'a/b', sourceOf(...late), LIMIT)).rejects.toBe(broken);
    expect(await store.open('half')).toBeUndefined();
    expect(await filesBelow(folder)).toHaveLength(before);
  });

  it('keep the previous content when a replacement fails', async () => {
    await store.put('again', 'a/b', sourceOf('first'), LIMIT);
    await expect(store.put('again', 'a/b', sourceOf('x', new Error()), LIMIT)).rejects.toThrow();
    expect((await readAll((await store.open('again'))?.stream)).toString()).toBe('first');
  });

  it('may be as large as the limit but no larger', async () => {
    await store.put('limit', 'a/b', sourceOf('12345'), 5);
    await expect(store.put('over', 'a/b', sourceOf('123', '456'), 5)).rejects.toThrow(
      ArtifactTooLargeError,
    );
    expect(await store.open('over')).toBeUndefined();
  });

  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', 'a\0b', 'a.b', '%2e%2e', 'é', 'x'.repeat(129)])(
    'cannot be named %j',
    async (id) => {
      await expect(store.put(id, 'a/b', sourceOf('x'), LIMIT)).rejects.toThrow(ArtifactIdError);
      await expect(store.open(id)).rejects.toThrow(ArtifactIdError);
      await expect(store.remove(id)).rejects.toThrow(ArtifactIdError);
    },
  );
});

describe(LocalArtifactStore.name, () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gateway-artifacts-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('restricts its files to their owner', async () => {
    await new LocalArtifactStore(join(root, 'artifacts')).put('a', 'a/b', sourceOf('x'), LIMIT);
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect(mode & 0o777).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
  });

  it('has a complete file when two are stored under one id at once', async () => {
    const store = new LocalArtifactStore(root);
    const put = (letter: string) => {
      const chunks = Array.from({ length: 50 }, () => letter.repeat(60_000));
      return store.put('twice', 'a/b', sourceOf(...chunks), LIMIT);
    };
    await Promise.all([put('a'), put('b')]);
    const stored = await readAll((await store.open('twice'))?.stream);
    expect([stored.length, new Set(stored).size]).toEqual([3_000_000, 1]);
    expect(await readdir(join(root, 'drafts'))).toEqual([]);
  });

  it('removes the unfinished files of a process killed a day ago, and nothing else', async () => {
    const store = new LocalArtifactStore(root);
    await store.put('kept', 'a/b', sourceOf('x'), LIMIT);
    const [old, fresh] = [join(root, 'drafts', 'old'), join(root, 'drafts', 'fresh')];
    await writeFile(old, 'x');
    await writeFile(fresh, 'x');
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await utimes(old, yesterday, yesterday);
    await store.onApplicationBootstrap();
    await store.onApplicationShutdown();
    expect(await readdir(join(root, 'drafts'))).toEqual(['fresh']);
    expect(await store.open('kept').then((opened) => readAll(opened?.stream))).toHaveLength(1);
  });

  it('starts without a writable folder, and names the problem when it needs one', async () => {
    const file = join(root, 'a-file');
    await writeFile(file, '');
    const store = new LocalArtifactStore(join(file, 'artifacts'));
    await store.onApplicationBootstrap();
    await store.onApplicationShutdown();
    await expect(store.put('a', 'a/b', sourceOf('x'), LIMIT)).rejects.toThrow(
      /a-file.*ENOTDIR.*GATEWAY_DATA_DIR.*S3_BUCKET/,
    );
  });
});

describe(S3ArtifactStore.name, () => {
  it('returns URLs that work without keys, for a limited time', async () => {
    const store = new S3ArtifactStore(s3.config);
    await store.put('shown', 'image/png', sourceOf('png'), LIMIT);
    const url = await store.presign('shown', {
      contentType: 'image/png',
      contentDisposition: 'inline; filename="shown.png"',
      lifetimeSeconds: 60,
    });
    expect(url).toContain('X-Amz-Expires=60');
    const answer = await fetch(url!);
    expect([answer.status, await answer.text()]).toEqual([200, 'png']);
    expect(answer.headers.get('content-disposition')).toBe('inline; filename="shown.png"');
    const changed = await fetch(url!.replace('shown?', 'other?'));
    expect(changed.status).toBeGreaterThanOrEqual(400);
    await store.onApplicationShutdown();
  });

  it('returns no URLs when callers must not be redirected to the bucket', async () => {
    const store = new S3ArtifactStore({ ...s3.config, redirect: false });
    const options = { contentType: 'a/b', contentDisposition: 'inline', lifetimeSeconds: 60 };
    expect(await store.presign('shown', options)).toBeUndefined();
  });

  it('fails within its limits when the bucket does not answer', async () => {
    const store = new S3ArtifactStore({ ...s3.config, endpoint: 'http://127.0.0.1:9' });
    await expect(store.put('a', 'a/b', sourceOf('x'), LIMIT)).rejects.toThrow('ECONNREFUSED');
    await store.onApplicationShutdown();
  });
});
