import type { Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type buildConnector, type Dispatcher } from 'undici';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import { operatorConnector } from '../../platform/http/public-address.js';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';
import type { CallLimits } from '../upstream.js';
import { UpstreamResponse } from './upstream-response.js';
import { toError } from '../../platform/errors/thrown.js';

export interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Absolute http(s) URL. */
  url: URL;
  headers: Record<string, string>;
  body?: Buffer;
  /** Replaces `body`: streamed while sending, with the length stated in the headers. */
  bodyStream?: Readable;
  limits: CallLimits;
  signal: CancelSignal;
}

/** Maximum number of origins with a connection pool; the least recently used one closes first. */
const MAX_POOLS = 200;

/** Connections per origin that stay open between calls, for as long as the server allows and at least 10 s. */
const WARM_CONNECTIONS = 32;
const KEEP_ALIVE_MS = 10_000;
/** Connections beyond those close quickly, so that a burst of callers does not leave hundreds open. */
const SURGE_KEEP_ALIVE_MS = 2_000;

/** The connections to one origin. */
interface OriginPools {
  readonly warm: Pool;
  readonly surge: Pool;
  /** Calls running over `warm`. */
  warmCalls: number;
  /** Sequence number of the latest call. */
  lastUse: number;
}

/**
 * Calls vendors through undici's `dispatch`, the fastest client on Node, with its own time limits:
 * one coarse timer watches all calls, so that progress of a stream costs an assignment.
 */
@Injectable()
export class HttpTransport implements OnApplicationShutdown {
  private readonly pools = new Map<string, OriginPools>();
  private uses = 0;
  private readonly timer = new CoarseTimer();

  private readonly connect: buildConnector.connector;

  /** @param connect how to open connections; by default to any address except metadata services */
  constructor(connectTimeoutMs: number, connect?: buildConnector.connector) {
    this.connect = connect ?? operatorConnector(connectTimeoutMs);
  }

  /**
   * Resolves when the vendor's response head has arrived.
   *
   * @throws UpstreamError `connect`, `reset` or `timeout`
   */
  call(call: HttpCall): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      const response = new UpstreamResponse(call.limits, call.signal, this.timer, resolve, reject);
      if (response.isOver) return;
      const pools = this.poolsOf(call.url.origin);
      const isWarm = pools.warmCalls < WARM_CONNECTIONS;
      if (isWarm) {
        pools.warmCalls++;
        response.onOver = () => {
          pools.warmCalls--;
        };
      }
      const options: Dispatcher.DispatchOptions = {
        method: call.method,
        path: call.url.pathname + call.url.search,
        headers: call.headers,
        body: call.body ?? call.bodyStream ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      };
      try {
        (isWarm ? pools.warm : pools.surge).dispatch(options, response);
      } catch (error) {
        response.onResponseError(undefined, toError(error));
      }
    });
  }

  async onApplicationShutdown(): Promise<void> {
    const pools = [...this.pools.values()].flatMap(({ warm, surge }) => [warm, surge]);
    await Promise.all(pools.map((pool) => pool.destroy()));
    this.pools.clear();
  }

  private poolsOf(origin: string): OriginPools {
    const known = this.pools.get(origin);
    if (known) {
      known.lastUse = ++this.uses;
      return known;
    }
    if (this.pools.size >= MAX_POOLS) this.closeOldest();
    const pools = {
      warm: new Pool(origin, {
        connect: this.connect,
        pipelining: 1,
        keepAliveTimeout: KEEP_ALIVE_MS,
      }),
      surge: new Pool(origin, {
        connect: this.connect,
        pipelining: 1,
        keepAliveTimeout: SURGE_KEEP_ALIVE_MS,
        keepAliveMaxTimeout: SURGE_KEEP_ALIVE_MS,
      }),
      warmCalls: 0,
      lastUse: ++this.uses,
    };
    this.pools.set(origin, pools);
    return pools;
  }

  private closeOldest(): void {
    const [oldest] = [...this.pools].sort(([, one], [, other]) => one.lastUse - other.lastUse);
    if (!oldest) return;
    const [origin, { warm, surge }] = oldest;
    this.pools.delete(origin);
    for (const pool of [warm, surge]) pool.close().catch(() => undefined);
  }
}
