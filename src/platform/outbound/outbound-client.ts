import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent, errors, type Dispatcher } from 'undici';
import { PrivateAddressError, publicConnector, type Resolve } from '../http/public-address.js';
import { readRetryAfterMs } from '../http/retry-after.js';
import { assertDestinationUrl, readDestinationUrl, findHeaderProblem } from './destination.js';
import { codeOf } from '../errors/thrown.js';

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** The receiver's answer is read only so that its connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_ANSWER_MS = 1_000;
/** To one origin, whoever it belongs to. */
const MAX_CONNECTIONS = 32;
const KEEP_ALIVE_MS = 4_000;

/** One POST to an address that a tenant chose. */
export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** For all of it, from looking up the name to the end of the answer; 10 s unless told. */
  readonly timeoutMs?: number;
  /** Whether the outcome is to have the answer of a 2xx, as far as it is short and comes at once. */
  readonly readsAnswer?: boolean;
}

export type OutboundOutcome =
  | { readonly ok: true; readonly status: number; readonly answer?: string }
  | {
      readonly ok: false;
      /** Fit for the tenant: how a sentence about the receiver ends, as `answered with status 500`. */
      readonly reason: string;
      /** Whether it may go well later. */
      readonly retryable: boolean;
      /** Undefined when no answer came. */
      readonly status: number | undefined;
      /** For how long the receiver asks to be left alone. */
      readonly retryAfterMs?: number;
    };

export interface OutboundClientOptions {
  /** Lifts the rule that only public addresses are connected to. */
  readonly allowPrivate: boolean;
  readonly resolveName?: Resolve;
}

/**
 * Delivers to addresses that tenants chose, without reaching by it what only we can reach: public
 * addresses over http(s), checked when connecting; no redirects; and a receiver cannot keep more
 * than one call's time and 64 KB.
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

  /** Never throws for what is the receiver's fault, or the address's. */
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
   * Refuses an address to which nothing could be delivered anyway, when it is configured.
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

/** Reads a short answer to its end, if only for the sake of the connection, and breaks off any other. */
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

/** @returns undefined when there is more */
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

/** Receivers that are being set up answer with all sorts of errors, so nearly all may pass. */
function judge(status: number): OutboundOutcome {
  if (status >= 200 && status < 300) return { ok: true, status };
  if (status >= 300 && status < 400) {
    return failed('redirects, which is not followed', { retryable: false, status });
  }
  return failed(`answered with status ${status}`, { retryable: status !== 410, status });
}

/** Which inside addresses answer is nobody's business, so what goes on there is not told apart. */
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
  return failed('broke the connection off', LATER);
}

const LATER = { retryable: true };

function failed(
  reason: string,
  { retryable, status }: { retryable: boolean; status?: number },
): OutboundOutcome {
  return { ok: false, reason, retryable, status };
}
