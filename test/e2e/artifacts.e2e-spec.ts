import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  JobArtifacts,
  type ServableArtifact,
} from '../../src/features/jobs/job-artifacts.service.js';
import { ArtifactStore } from '../../src/features/jobs/artifacts/artifact-store.js';
import { ArtifactUrls } from '../../src/features/jobs/artifacts/artifact-urls.js';
import { sourceOf } from '../support/artifact-bytes.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startTestS3 } from '../support/s3-server.js';
import { until } from '../support/until.js';

const TEXT = '0123456789';
const MEGABYTES = randomBytes(8 * 1024 * 1024);

type Urls = InstanceType<typeof ArtifactUrls>;

/** Answers for the jobs of these artifacts, which have none. */
class OwnerDouble {
  readonly artifacts = new Map<string, 'expired' | ServableArtifact>();
  fetches: string[] = [];
  failure: Error | undefined;

  async lookUp(id: string): Promise<'unknown' | 'expired' | ServableArtifact> {
    return this.artifacts.get(id) ?? 'unknown';
  }

  async fetched(id: string): Promise<boolean> {
    if (this.failure) throw this.failure;
    this.fetches.push(id);
    return true;
  }
}

const owner = new OwnerDouble();
afterEach(() => {
  owner.fetches = [];
  owner.failure = undefined;
});

/** Stores three artifacts and registers them with the owner. */
async function fill({ gateway }: BootedGateway): Promise<Urls> {
  const get = <Type>(type: abstract new (...args: never[]) => Type): Type =>
    gateway.application.get<Type>(type, { strict: false });
  jest.spyOn(get(JobArtifacts), 'lookUp').mockImplementation((id) => owner.lookUp(id));
  jest.spyOn(get(JobArtifacts), 'fetched').mockImplementation((id) => owner.fetched(id));
  const store = get(ArtifactStore);
  const put = async (id: string, contentType: string, content: Buffer | string): Promise<void> => {
    owner.artifacts.set(id, {
      tenantId: 'a',
      contentType,
      ...(await store.put(id, contentType, sourceOf(content), 1e9)),
    });
  };
  await put('img_1', 'image/png', TEXT);
  await put('page_1', 'text/html', '<script>alert(1)</script>');
  await put('vid_1', 'video/mp4', MEGABYTES);
  return get(ArtifactUrls);
}

const later = (): Date => new Date(Date.now() + 3_600_000);

describe('GET /v1/artifacts/:id', () => {
  let service: BootedGateway;
  let urls: Urls;

  beforeAll(async () => {
    service = await bootGateway();
    urls = await fill(service);
  });
  afterAll(() => service.close());

  it('returns the bytes to anyone with the URL', async () => {
    const url = urls.sign('img_1', later());
    expect(url.startsWith(`${service.url}/v1/artifacts/img_1?`)).toBe(true);
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([200, TEXT]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'content-disposition': 'inline; filename="img_1.png"',
      'content-length': '10',
      'content-security-policy': 'sandbox',
      'content-type': 'image/png',
      etag: '"img_1"',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    expect(owner.fetches).toEqual(['img_1']);
  });

  it('answers HEAD without the bytes, which does not count as a download', async () => {
    const answer = await fetch(urls.sign('vid_1', later()), { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(MEGABYTES.length));
    expect(owner.fetches).toEqual([]);
  });

  it('forces a download of anything but images, audio and video', async () => {
    const { headers } = await fetch(urls.sign('page_1', later()));
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toBe('attachment; filename="page_1.bin"');
  });

  it.each<[Record<string, string>, number, string, string | null]>([
    [{ range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10'],
    [{ range: 'bytes=7-' }, 206, '789', 'bytes 7-9/10'],
    [{ range: 'bytes=-2' }, 206, '89', 'bytes 8-9/10'],
    [{ range: 'bytes=0-99' }, 206, TEXT, 'bytes 0-9/10'],
    [{ range: 'bytes=0-1,4-5' }, 200, TEXT, null],
    [{ range: 'bytes=x' }, 200, TEXT, null],
    [{ range: 'bytes=2-4', 'if-range': '"img_1"' }, 206, '234', 'bytes 2-4/10'],
    [{ range: 'bytes=2-4', 'if-range': '"other"' }, 200, TEXT, null],
    [{ range: 'bytes=2-4', 'if-range': 'W/"img_1"' }, 200, TEXT, null],
    [{ range: 'bytes=2-4', 'if-range': 'Sat, 01 Jan 2022 00:00:00 GMT' }, 200, TEXT, null],
    [{ 'if-none-match': '"other"' }, 200, TEXT, null],
    [{ 'if-none-match': '"other", W/"img_1"' }, 304, '', null],
    [{ 'if-none-match': '*' }, 304, '', null],
  ])('answers %j with %i', async (headers, status, text, contentRange) => {
    const answer = await fetch(urls.sign('img_1', later()), { headers });
    expect([answer.status, await answer.text()]).toEqual([status, text]);
    expect(answer.headers.get('content-range')).toBe(contentRange);
    if (status !== 304) expect(answer.headers.get('content-length')).toBe(String(text.length));
  });

  it.each(['bytes=10-', 'bytes=-0', 'bytes=99-100'])('rejects %s with 416', async (range) => {
    const answer = await fetch(urls.sign('img_1', later()), { headers: { range } });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */10');
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', param: 'range' },
    });
    expect(owner.fetches).toEqual([]);
  });

  it('returns the same 404 for bad signatures, bad ids and missing artifacts', async () => {
    const good = new URL(urls.sign('img_1', later()));
    const changed = (change: (url: URL) => void): string => {
      const url = new URL(good);
      change(url);
      return url.href;
    };
    const bodies = new Set<string>();
    for (const url of [
      changed((url) => url.searchParams.delete('signature')),
      changed((url) => url.searchParams.delete('expires')),
      changed((url) => url.searchParams.set('signature', 'x')),
      changed((url) => url.searchParams.append('signature', 'x')),
      changed((url) => url.searchParams.set('expires', String(Date.now()))),
      changed((url) => (url.pathname = '/v1/artifacts/page_1')),
      changed((url) => (url.pathname = '/v1/artifacts/..%2f..%2fsecret')),
      changed((url) => (url.pathname = '/v1/artifacts/%00')),
      urls.sign('nothing', later()),
    ]) {
      const answer = await fetch(url);
      expect([url, answer.status]).toEqual([url, 404]);
      bodies.add(await answer.text());
    }
    expect(bodies.size).toBe(1);
  });

  it('returns 410 after the expiry, and when the owner says so', async () => {
    owner.artifacts.set('old_1', 'expired');
    for (const url of [
      urls.sign('img_1', new Date(Date.now() - 1_000)),
      urls.sign('old_1', later()),
    ]) {
      const answer = await fetch(url);
      expect(answer.status).toBe(410);
      expect(await answer.json()).toMatchObject({
        error: { type: 'not_found_error', param: 'artifact' },
      });
    }
    expect(owner.fetches).toEqual([]);
  });

  it('returns nothing when the download cannot be recorded', async () => {
    owner.failure = new Error('no database');
    const answer = await fetch(urls.sign('img_1', later()));
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain(TEXT);
  });

  it('closes the file when its reader disconnects', async () => {
    const before = await openArtifacts();
    const call = request(urls.sign('vid_1', later()));
    await new Promise((resolve) => {
      call.on('response', (answer) => answer.once('data', resolve)).end();
    });
    call.on('error', () => undefined).destroy();
    await until(async () => (await openArtifacts()) === before);
    expect(owner.fetches).toEqual(['vid_1']);
  });

  it('lists the allowed methods', async () => {
    const answer = await fetch(urls.sign('img_1', later()), { method: 'POST' });
    expect(answer.status).toBe(405);
  });
});

/** Returns how many artifact files this process has open. */
async function openArtifacts(): Promise<number> {
  const links = await readdir('/proc/self/fd');
  const paths = await Promise.all(
    links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => '')),
  );
  return paths.filter((path) => path.includes('/artifacts/')).length;
}

describe('GET /v1/artifacts/:id in a bucket', () => {
  let folder: string;
  let stop: () => Promise<void>;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-s3-'));
    const s3 = await startTestS3(folder);
    stop = s3.stop;
    environment = {
      S3_BUCKET: s3.config.bucket,
      S3_ENDPOINT: s3.config.endpoint!,
      S3_ACCESS_KEY_ID: s3.config.accessKeyId!,
      S3_SECRET_ACCESS_KEY: s3.config.secretAccessKey!,
      GATEWAY_PUBLIC_URL: 'https://gateway.example',
    };
  });
  afterAll(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('redirects to the bucket for a minute', async () => {
    const service = await bootGateway(environment);
    try {
      const { pathname, search, origin } = new URL((await fill(service)).sign('vid_1', later()));
      expect(origin).toBe('https://gateway.example');
      // The configured public URL is not the real address, so the port is read from the server.
      const { port } = (
        service.gateway.application.getHttpServer() as Server
      ).address() as AddressInfo;
      const local = `http://127.0.0.1:${port}${pathname}${search}`;
      const answer = await fetch(local, { redirect: 'manual' });
      expect(answer.status).toBe(302);
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      expect(answer.headers.get('location')).toContain('X-Amz-Expires=60');
      expect(owner.fetches).toEqual(['vid_1']);
      const followed = await fetch(local, { headers: { range: 'bytes=5-8' } });
      expect(followed.status).toBe(206);
      expect(Buffer.from(await followed.arrayBuffer())).toEqual(MEGABYTES.subarray(5, 9));
    } finally {
      await service.close();
    }
  });

  it('proxies the bytes when callers cannot reach the bucket', async () => {
    const { GATEWAY_PUBLIC_URL: _, ...rest } = environment;
    const service = await bootGateway({ ...rest, S3_REDIRECT: 'false' });
    try {
      const urls = await fill(service);
      const part = await fetch(urls.sign('img_1', later()), { headers: { range: 'bytes=-2' } });
      expect([part.status, await part.text()]).toEqual([206, '89']);
      const whole = await fetch(urls.sign('vid_1', later()));
      expect(Buffer.from(await whole.arrayBuffer()).equals(MEGABYTES)).toBe(true);
    } finally {
      await service.close();
    }
  });
});
