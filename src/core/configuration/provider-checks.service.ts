import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import type { Upstream } from '../../vendors/upstream.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { checkAccount, type AccountCheck } from '../credentials/account-check.js';
import { ConfigurationService } from './configuration.service.js';
import { seenOfCatalogue, type SeenModels } from './seen-models.js';

/** What a free call said of one account of a configured provider. */
export interface ProviderCheck {
  readonly provider: string;
  /** One of several; undefined: the provider's only one. */
  readonly account: string | undefined;
  readonly check: AccountCheck;
  /** Null where the vendor does not list models by the names of routes. */
  readonly catalogue: SeenModels | null;
  readonly checkedAt: Date;
}

type Checked = ProviderCheck & { readonly upstream: Upstream };

/**
 * Asks the vendor of each configured account once whether it takes the key, by a call that costs nothing:
 * when the service has started, and when other providers are configured; those alone then.
 */
@Injectable()
export class ProviderChecks implements OnApplicationShutdown {
  private readonly stopping = new AbortController();
  /** By provider and account; what is told of an account that has changed since is forgotten. */
  private checks: readonly Checked[] = [];

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'checksKeys'>,
    private readonly upstreams: UpstreamRegistry,
    private readonly catalogue: CatalogueService,
    private readonly configuration: ConfigurationService,
  ) {}

  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  /**
   * Checks all, and from now on what changes; nothing where that is turned off.
   *
   * @param told of what has been checked, now and later; never after the service has begun to stop
   */
  async begin(told: (checks: readonly ProviderCheck[]) => void): Promise<void> {
    if (!this.config.checksKeys) return;
    const check = async (): Promise<void> => {
      const fresh = await this.checkNew();
      if (fresh.length > 0 && !this.stopping.signal.aborted) told(fresh);
    };
    this.configuration.onChange(() => void check());
    await check();
  }

  /** What is known of a provider's accounts, in their order; empty before their first check. */
  of(providerId: string): readonly ProviderCheck[] {
    return this.checks.filter(
      ({ provider, account, upstream }) =>
        provider === providerId &&
        this.upstreams.has(provider) &&
        this.upstreams.get(provider, account) === upstream,
    );
  }

  private async checkNew(): Promise<ProviderCheck[]> {
    const known = new Map(this.checks.map((each) => [each.upstream, each]));
    const done = await checkProviders(this.upstreams, this.catalogue, this.stopping.signal, known);
    this.checks = done;
    return done.filter((each) => known.get(each.upstream) !== each);
  }
}

/**
 * Calls each account of each configured provider once, all at the same time; takes 10 s at most. What needs no
 * key is left out.
 *
 * @param known what was found before, which is not asked again
 */
export async function checkProviders(
  upstreams: UpstreamRegistry,
  catalogue: Pick<CatalogueService, 'models'>,
  stop?: AbortSignal,
  known: ReadonlyMap<Upstream, Checked> = new Map(),
): Promise<Checked[]> {
  const accounts = upstreams.providers.flatMap((provider) =>
    (provider.accounts ?? [undefined]).map((account) => ({ provider, account })),
  );
  const asked = accounts.map(async ({ provider: { id, name, apiKey }, account }) => {
    const upstream = upstreams.get(id, account?.id);
    if (upstream.keyIs === 'unneeded') return [];
    const before = known.get(upstream);
    if (before) return [before];
    const hasKey = (account ? account.apiKey : apiKey) !== undefined;
    const check = await checkAccount(upstream, { name, hasKey }, stop);
    const { modelIds } = check;
    const seen = modelIds && seenOfCatalogue(catalogue.models, id, modelIds, account);
    const checkedAt = new Date();
    return [{ provider: id, account: account?.id, check, catalogue: seen, checkedAt, upstream }];
  });
  return (await Promise.all(asked)).flat();
}
