import type { OnApplicationShutdown } from '@nestjs/common';
import type { Resolve } from '../common/http/public-address.js';

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
  constructor(private readonly options: OutboundClientOptions) {}

  /** Never throws for what is the receiver's fault, or the address's. */
  async post(post: OutboundPost): Promise<OutboundOutcome> {
    throw new Error(`not there yet: ${post.url} ${this.options.allowPrivate}`);
  }

  /**
   * Refuses an address to which nothing could be delivered anyway, when it is configured.
   *
   * @throws InvalidRequestError that names `param`
   */
  async assertDestinationUrl(url: string, param: string): Promise<void> {
    throw new Error(`not there yet: ${url} ${param}`);
  }

  async onApplicationShutdown(): Promise<void> {}
}
