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

/** Content types without information, common with object stores. */
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

/** An image or document downloaded from a URL. */
export interface FetchedMedia {
  /** Without parameters, in lower case: `image/png`, `application/pdf`, `text/…`. */
  mediaType: string;
  data: Buffer;
}

export interface FetchMediaOptions {
  /** Aborted when the result is no longer needed. */
  signal: CancelSignal;
  /** The request field with the URL, for errors. */
  param: string;
  maxBytes?: number;
}

interface MediaFetcherOptions {
  allowPrivate: boolean;
  timeoutMs?: number;
  resolveName?: Resolve;
}

/**
 * Fetches media by a caller's URL for vendors that accept only bytes. Guards against SSRF: only public
 * addresses over http(s), no redirects, no credentials.
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
   * Checks a URL before something else in the operator's network fetches it.
   *
   * @param param the request field with the URL
   * @throws UpstreamError `caller` when the URL does not currently resolve to a public address
   */
  async assertPublic(url: string, param: string): Promise<void> {
    const target = parseUrl(url, param);
    const { allowPrivate, resolveName } = this.options;
    if (allowPrivate || !(await leadsInside(target, resolveName))) return;
    throw refusal(target.host, param, describe(new PrivateAddressError()));
  }

  /**
   * Downloads a caller's URL.
   *
   * @throws UpstreamError `caller` for every failure, since the URL is the caller's
   * @throws CallAbortedError when the signal fires
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
        if (!mediaType) throw refuse('is not an image, a PDF or text');
        return { mediaType, data };
      } finally {
        response.body.on('error', () => undefined).destroy();
      }
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      if (signal.aborted) throw new CallAbortedError();
      if (limit.aborted) throw refuse(`did not arrive within ${this.timeoutMs / 1000} seconds`);
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
      message: 'URLs of images and documents must be http, https or data URLs.',
    });
  }
  if (target.username !== '' || target.password !== '') {
    throw refusal(target.host, param, 'contains credentials; remove them');
  }
  return target;
}

/** Omits the path, which may be signed. */
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
    throw refuse('redirects; use the final URL');
  }
  if (statusCode !== 200) throw refuse(`returned status ${statusCode}`);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') throw refuse('returned compressed data that was not requested');
}

async function readAtMost(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  refuse: Refuse,
): Promise<Buffer> {
  const tooLarge = (): UpstreamError =>
    refuse(`is larger than the ${Math.floor(maxBytes / 1024 / 1024)} MB available for media`);
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

/** Describes failures alike, so that callers cannot probe internal addresses. */
function describe(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'does not lead to a public address';
  if (error instanceof errors.ConnectTimeoutError) return 'could not be reached in time';
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a host that cannot be resolved';
  return 'could not be read';
}

/**
 * Returns the media type of a download by its `content-type`, or by its first bytes when that is
 * missing or generic. Undefined for anything but images, PDF and text.
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
