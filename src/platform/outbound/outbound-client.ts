import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent, errors, type Dispatcher } from 'undici';
import { PrivateAddressError, publicConnector, type Resolve } from '../http/public-address.js';
import { readRetryAfterMs } from '../http/retry-after.js';
import { assertDestinationUrl, readDestinationUrl, findHeaderProblem } from './destination.js';
import { codeOf } from '../errors/thrown.js';

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** The answer is read only so that its connection can be reused. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_ANSWER_MS = 1_000;
/** Connections to one origin, over all tenants. */
const MAX_CONNECTIONS = 32;
const KEEP_ALIVE_MS = 4_000;

/** A POST to an address that a tenant chose. */
export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** For everything, from the name look-up to the end of the answer; 10 s by default. */
  readonly timeoutMs?: number;
  /** True when the outcome should include the answer of a 2xx, if it is short and arrives at once. */
  readonly readsAnswer?: boolean;
}

export type OutboundOutcome =
  | { readonly ok: true; readonly status: number; readonly answer?: string }
  | {
      readonly ok: false;
      /** A text for the tenant: the end of a sentence about the receiver, such as `answered with status 500`. */
      readonly reason: string;
      /** True when a retry may succeed. */
      readonly retryable: boolean;
      /** Undefined without an answer. */
      readonly status: number | undefined;
      /** How long the receiver asks for a pause. */
      readonly retryAfterMs?: number;
    };

export interface OutboundClientOptions {
  /** Allows connections to private addresses. */
  readonly allowPrivate: boolean;
  readonly resolveName?: Resolve;
}

/**
 * Posts to addresses that tenants chose without exposing the internal network: public http(s) addresses only, checked at
 * connect time, without redirects. A receiver can hold one call's time and 64 KB at most.
 */
export class OutboundClient implements OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(private readonly options: OutboundClientOptions) {
    const { allowPrivate, resolveName } = options;
    this.agent = new Agent({
      connect: publicConnector({
        timeoutMs: CONNECT_TIMEOUT_MS,
        allowPrivate,
        ...(resolveName && { resolveName }),
      }),
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 16 * 1024,
    });
  }

  /** Does not throw for faults of the receiver or the address. */
  async post(post: OutboundPost): Promise<OutboundOutcome> {
    const url = readDestinationUrl(post.url, this.options);
    if (typeof url === 'string') return failed(`has a URL that ${url}`, { retryable: false });
    for (const [name, value] of Object.entries(post.headers)) {
      const problem = findHeaderProblem(name, value);
      if (problem !== undefined) {
        return failed(`has a header that cannot be sent: ${name} ${problem}`, { retryable: false });
      }
    }
    const timeoutMs = post.timeoutMs ?? TIMEOUT_MS;
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: withDefaults(post.headers),
        body: post.body,
        signal: limit,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const { statusCode, headers } = answer;
      const text = await readShort(answer, post.readsAnswer ?? false);
      const outcome = judge(statusCode);
      if (outcome.ok) return text === undefined ? outcome : { ...outcome, answer: text };
      const retryAfterMs = readRetryAfterMs(headers);
      return retryAfterMs === undefined ? outcome : { ...outcome, retryAfterMs };
    } catch (error) {
      return describe(error, limit.aborted, timeoutMs);
    }
  }

  /**
   * Rejects an address at configuration time that could not be delivered to.
   *
   * @throws InvalidRequestError that names `param`
   */
  async assertDestinationUrl(url: string, param: string): Promise<void> {
    await assertDestinationUrl(url, param, this.options);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}

function withDefaults(headers: Readonly<Record<string, string>>): Record<string, string> {
  const given = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return { 'user-agent': 'model-gateway', ...Object.fromEntries(given) };
}

/** Reads a short answer to its end so that the connection can be reused, and aborts longer ones. */
async function readShort(
  { body }: Dispatcher.ResponseData,
  isWanted: boolean,
): Promise<string | undefined> {
  body.on('error', () => undefined);
  const timer = setTimeout(() => body.destroy(), MAX_ANSWER_MS);
  try {
    if (isWanted) return await readUpTo(body, MAX_ANSWER_BYTES);
    await body.dump({ limit: MAX_ANSWER_BYTES });
  } catch {
    // The status has been said; what comes after it is of no interest.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return undefined;
}

/** @returns undefined when there is more than the limit */
async function readUpTo(body: AsyncIterable<Buffer>, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Receivers being set up answer with all kinds of errors, so nearly all of them are retried. */
function judge(status: number): OutboundOutcome {
  if (status >= 200 && status < 300) return { ok: true, status };
  if (status >= 300 && status < 400) {
    return failed('redirects, which is not followed', { retryable: false, status });
  }
  return failed(`answered with status ${status}`, { retryable: status !== 410, status });
}

/** Does not distinguish what happens inside the network, which would reveal which addresses answer. */
function describe(error: unknown, isOverTime: boolean, timeoutMs: number): OutboundOutcome {
  if (error instanceof PrivateAddressError) {
    return failed('does not lead to a public address', { retryable: false });
  }
  const code = codeOf(error);
  if (isOverTime) return failed(`did not answer within ${timeoutMs / 1000} seconds`, LATER);
  if (error instanceof errors.ConnectTimeoutError) return failed('could not be reached', LATER);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return failed('has a host that cannot be found', LATER);
  }
  if (code === 'ECONNREFUSED') return failed('refused the connection', LATER);
  return failed('closed the connection', LATER);
}

const LATER = { retryable: true };

function failed(
  reason: string,
  { retryable, status }: { retryable: boolean; status?: number },
): OutboundOutcome {
  return { ok: false, reason, retryable, status };
}
