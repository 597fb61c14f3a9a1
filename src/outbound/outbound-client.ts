import { isIP } from 'node:net';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { InvalidRequestError } from '../common/errors/gateway-errors.js';
import {
  PrivateAddressError,
  isPublicAddress,
  publicConnector,
  type Resolve,
} from '../common/http/public-address.js';

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** More of an answer than this is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** One POST to an address that a tenant chose. */
export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** For all of it, from looking up the name to the end of the answer; 10 s unless told. */
  readonly timeoutMs?: number;
}

export type OutboundOutcome =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false;
      /** Fit for the tenant: one sentence without a full stop, such as `answered with status 500`. */
      readonly reason: string;
      /** Whether it may go well later. */
      readonly retryable: boolean;
      /** Undefined when no answer came. */
      readonly status: number | undefined;
    };

export interface OutboundClientOptions {
  /** Lifts the rule that only public addresses are connected to. */
  readonly allowPrivate: boolean;
  readonly resolveName?: Resolve;
}

/** Delivers to addresses that tenants chose, without reaching by it what only we can reach. */
export class OutboundClient implements OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(private readonly options: OutboundClientOptions) {
    this.agent = new Agent({
      connect: publicConnector({ timeoutMs: CONNECT_TIMEOUT_MS, ...options }),
      pipelining: 1,
      keepAliveTimeout: 4_000,
    });
  }

  /** Never throws for what is the receiver's fault, or the address's. */
  async post({
    url,
    headers,
    body,
    timeoutMs = TIMEOUT_MS,
  }: OutboundPost): Promise<OutboundOutcome> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const target = new URL(url);
      const response = await this.agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers,
        body,
        signal,
      });
      const status = response.statusCode;
      await response.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
      if (status >= 200 && status < 300) return { ok: true, status };
      const retryable = status >= 500 || status === 408 || status === 425 || status === 429;
      return { ok: false, reason: `answered with status ${status}`, retryable, status };
    } catch (error) {
      return { ok: false, ...describe(error, signal, timeoutMs), status: undefined };
    }
  }

  /**
   * Refuses an address to which nothing could be delivered anyway, when it is configured.
   *
   * @throws InvalidRequestError that names `param`
   */
  async assertDestinationUrl(url: string, param: string): Promise<void> {
    await Promise.resolve();
    const target = URL.canParse(url) ? new URL(url) : undefined;
    if (!target || !['http:', 'https:'].includes(target.protocol)) {
      throw new InvalidRequestError(
        param,
        `\`${param}\` must be a URL that starts with http(s)://.`,
      );
    }
    if (target.username !== '' || target.password !== '') {
      throw new InvalidRequestError(param, `\`${param}\` must not hold a user name or password.`);
    }
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const isPrivate = isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : !isPublicAddress(host);
    if (isPrivate && !this.options.allowPrivate) {
      throw new InvalidRequestError(param, `\`${param}\` must lead to a public address.`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}

function describe(
  error: unknown,
  signal: AbortSignal,
  timeoutMs: number,
): { reason: string; retryable: boolean } {
  if (signal.aborted) return { reason: `did not answer within ${timeoutMs} ms`, retryable: true };
  if (error instanceof PrivateAddressError) {
    return { reason: 'does not lead to a public address', retryable: false };
  }
  return { reason: 'could not be reached, or closed the connection', retryable: true };
}
