import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig, type ProviderConfig } from '../platform/config/app-config.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';
import type { AdapterTools } from './vendor.js';
import { vendorOf, withAccount } from './vendors.js';

/** Holds the configured providers, with one adapter for each, or for each of its accounts. */
@Injectable()
export class UpstreamRegistry {
  /** Keyed by `nameOf`. */
  private upstreams: ReadonlyMap<string, ConfiguredUpstream> = new Map();
  /** Adapters of removed providers and accounts, for requests and jobs that were planned with them. */
  private readonly retired = new Map<string, ConfiguredUpstream>();
  private readonly tools: AdapterTools;

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'providers'>,
    transport: HttpTransport,
    mediaFetcher: MediaFetcher,
  ) {
    this.tools = { transport, mediaFetcher };
    this.refresh();
  }

  get providers(): readonly ProviderConfig[] {
    return this.config.providers;
  }

  /** Call when the configured providers change. Unchanged ones keep their adapter. */
  refresh(): void {
    const next = new Map<string, ConfiguredUpstream>();
    for (const provider of this.config.providers) {
      const [first] = provider.accounts ?? [];
      this.keep(next, provider.id, first ? withAccount(provider, first) : provider);
      for (const account of provider.accounts ?? []) {
        this.keep(next, nameOf(provider.id, account.id), withAccount(provider, account));
      }
    }
    for (const [id, one] of this.upstreams) if (!next.has(id)) this.retired.set(id, one);
    this.upstreams = next;
  }

  private keep(
    next: Map<string, ConfiguredUpstream>,
    name: string,
    provider: ProviderConfig,
  ): void {
    const text = JSON.stringify(provider);
    const known = this.upstreams.get(name);
    const upstream = known?.text === text ? known.upstream : this.create(provider);
    next.set(name, { text, upstream });
    this.retired.delete(name);
  }

  /**
   * Creates an adapter for an account that is not configured.
   *
   * @param transport replaces the shared one
   */
  create(provider: ProviderConfig, transport = this.tools.transport): Upstream {
    const vendor = vendorOf(provider.adapter);
    if (!vendor) throw new Error(`provider ${provider.id}: no adapter ${provider.adapter}`);
    return vendor.createAdapter(provider, { ...this.tools, transport });
  }

  has(providerId: string): boolean {
    return this.upstreams.has(providerId);
  }

  /** @param account one of several; undefined: the provider's only or first one */
  get(providerId: string, account?: string): Upstream {
    const name = nameOf(providerId, account);
    const { upstream } = this.upstreams.get(name) ?? this.retired.get(name) ?? {};
    if (!upstream) throw new Error(`provider ${name} is not configured`);
    return upstream;
  }
}

/** Names a provider and its account; provider ids cannot contain `@`. */
function nameOf(providerId: string, account: string | undefined): string {
  return account === undefined ? providerId : `${providerId}@${account}`;
}

interface ConfiguredUpstream {
  /** The provider as JSON. */
  readonly text: string;
  readonly upstream: Upstream;
}
