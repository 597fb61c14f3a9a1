import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, errors, type Dispatcher } from 'undici';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import {
  PrivateAddressError,
  publicConnector,
  type Resolve,
} from '../../platform/http/public-address.js';
import { leadsInside } from '../../platform/outbound/destination.js';
import { UpstreamError } from '../upstream-error.js';
import { CallAbortedError } from './upstream-response.js';
import { codeOf } from '../../platform/errors/thrown.js';

/** Types that say nothing; stores of files are fond of them. */
const UNTYPED = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const TAKEN = /^(?:image\/[\w.+-]+|text\/[\w.+-]+|application\/pdf)$/;

const SIGNATURES: readonly [mediaType: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['application/pdf', 0, '%PDF-'],
];

const MAX_BYTES = 20 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** An image or document that lay behind a URL. */
export interface FetchedMedia {
  /** Without parameters, in lower case: `image/png`, `application/pdf`, `text/…`. */
  mediaType: string;
  data: Buffer;
}

export interface FetchMediaOptions {
  /** Aborted when nobody waits for it any more. */
  signal: CancelSignal;
  /** The request field that holds the URL, for errors. */
  param: string;
  maxBytes?: number;
}

interface MediaFetcherOptions {
  allowPrivate: boolean;
  timeoutMs?: number;
  resolveName?: Resolve;
}

/**
 * Fetches what a caller's URL points to, for vendors that take bytes only. The caller must not
 * reach by it what only we can reach: public addresses over http(s), no redirects, no credentials.
 */
@Injectable()
export class MediaFetcher implements OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly timeoutMs: number;

  constructor(private readonly options: MediaFetcherOptions) {
    const { allowPrivate, timeoutMs = TIMEOUT_MS, resolveName } = options;
    this.timeoutMs = timeoutMs;
    const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
    this.agent = new Agent({
      connect: publicConnector({
        timeoutMs: connectTimeoutMs,
        allowPrivate,
        ...(resolveName && { resolveName }),
      }),
      pipelining: 1,
      keepAliveTimeout: 1_000,
    });
  }

  /**
   * To be asked before somebody else in the operator's network fetches it.
   *
   * @param param the request field that holds the URL
   * @throws UpstreamError `caller` for a URL that does not lead to a public address now
   */
  async assertPublic(url: string, param: string): Promise<void> {
    const target = parseUrl(url, param);
    const { allowPrivate, resolveName } = this.options;
    if (allowPrivate || !(await leadsInside(target, resolveName))) return;
    throw refusal(target.host, param, describe(new PrivateAddressError()));
  }

  /**
   * @throws UpstreamError `caller`, since it is the caller's URL that leads nowhere
   * @throws CallAbortedError when nobody waits any more
   */
  async fetch(url: string, options: FetchMediaOptions): Promise<FetchedMedia> {
    const { signal, param, maxBytes = MAX_BYTES } = options;
    const target = parseUrl(url, param);
    const refuse = (problem: string): UpstreamError => refusal(target.host, param, problem);
    const limit = AbortSignal.timeout(this.timeoutMs);
    const leaving = new AbortController();
    const onAbort = (): void => leaving.abort();
    if (signal.aborted) throw new CallAbortedError();
    signal.addEventListener('abort', onAbort);
    try {
      const response = await this.agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'GET',
        headers: { accept: 'image/*, application/pdf, text/*', 'accept-encoding': 'identity' },
        signal: AbortSignal.any([leaving.signal, limit]),
      });
      try {
        assertPlainAnswer(response, refuse);
        const data = await readAtMost(response, Math.min(maxBytes, MAX_BYTES), refuse);
        const mediaType = readMediaType(response.headers['content-type'], data);
        if (!mediaType) throw refuse('is neither an image nor a PDF nor text');
        return { mediaType, data };
      } finally {
        response.body.on('error', () => undefined).destroy();
      }
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      if (signal.aborted) throw new CallAbortedError();
      if (limit.aborted) throw refuse(`did not come within ${this.timeoutMs / 1000} seconds`);
      throw refuse(describe(error));
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}

function parseUrl(url: string, param: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (!target || !['http:', 'https:'].includes(target.protocol)) {
    throw new UpstreamError({
      failure: 'caller',
      param,
      message: 'URLs of images and documents must be http or https, or data URLs.',
    });
  }
  if (target.username !== '' || target.password !== '') {
    throw refusal(target.host, param, 'names credentials, which are not sent');
  }
  return target;
}

/** The path is left out: it may be signed. */
function refusal(host: string, param: string, problem: string): UpstreamError {
  return new UpstreamError({
    failure: 'caller',
    param,
    message: `The URL at ${host.slice(0, 100)} could not be fetched: it ${problem}.`,
  });
}

type Refuse = (problem: string) => UpstreamError;

function assertPlainAnswer(response: Dispatcher.ResponseData, refuse: Refuse): void {
  const { statusCode, headers } = response;
  if (statusCode >= 300 && statusCode < 400) {
    throw refuse('redirects, which is not followed; give the address it leads to');
  }
  if (statusCode !== 200) throw refuse(`answers with status ${statusCode}`);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') throw refuse('is compressed, though that was not asked for');
}

async function readAtMost(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  refuse: Refuse,
): Promise<Buffer> {
  const tooLarge = (): UpstreamError =>
    refuse(`is larger than the ${Math.floor(maxBytes / 1024 / 1024)} MB that are left for media`);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  const pieces: AsyncIterable<Buffer> = body;
  for await (const chunk of pieces) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Whether inside addresses answer is nobody's business, so these all sound the same. */
function describe(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'does not lead to a public address';
  if (error instanceof errors.ConnectTimeoutError) return 'could not be reached in time';
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a host that cannot be found';
  return 'could not be read';
}

/**
 * What kind of file a download is: by its `content-type`, or by its first bytes where that says
 * nothing. Undefined for anything but images, PDF and text.
 */
export function readMediaType(
  header: string | string[] | undefined,
  data: Buffer,
): string | undefined {
  const [first = ''] = [header].flat();
  const mediaType = (first.split(';')[0] ?? '').trim().toLowerCase();
  if (!UNTYPED.has(mediaType)) return TAKEN.test(mediaType) ? mediaType : undefined;
  const head = data.subarray(0, 16).toString('latin1');
  return SIGNATURES.find(([, offset, bytes]) => head.startsWith(bytes, offset))?.[0];
}
