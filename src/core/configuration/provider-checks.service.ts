import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import type { Upstream } from '../../vendors/upstream.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { checkAccount, type AccountCheck } from '../credentials/account-check.js';
import { ConfigurationService } from './configuration.service.js';
import { seenOfCatalogue, type SeenModels } from './seen-models.js';

/** Result of checking one account of a configured provider. */
export interface ProviderCheck {
  readonly provider: string;
  /** Name of the account in a pool; undefined for a provider with a single account. */
  readonly account: string | undefined;
  readonly check: AccountCheck;
  /** Null when the vendor does not list models by the names of routes. */
  readonly catalogue: SeenModels | null;
  readonly checkedAt: Date;
}

type Checked = ProviderCheck & { readonly upstream: Upstream };

/**
 * Checks with one free call whether each configured account's key is accepted: at startup, and for changed
 * providers when the configuration changes.
 */
@Injectable()
export class ProviderChecks implements OnApplicationShutdown {
  private readonly stopping = new AbortController();
  /** By provider and account; results of changed accounts are dropped. */
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
   * Checks all accounts, and from then on changed ones. Does nothing when disabled.
   *
   * @param onResults receives the results of each round; not called once the service is stopping
   */
  async begin(onResults: (checks: readonly ProviderCheck[]) => void): Promise<void> {
    if (!this.config.checksKeys) return;
    const check = async (): Promise<void> => {
      const fresh = await this.checkNew();
      if (fresh.length > 0 && !this.stopping.signal.aborted) onResults(fresh);
    };
    this.configuration.onChange(() => void check());
    await check();
  }

  /** Returns the results for a provider's accounts, in order; empty before the first check. */
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
    const results = await checkProviders(
      this.upstreams,
      this.catalogue,
      this.stopping.signal,
      known,
    );
    this.checks = results;
    return results.filter((each) => known.get(each.upstream) !== each);
  }
}

/**
 * Calls every account of every configured provider concurrently, for 10 s at most. Skips providers without a
 * key.
 *
 * @param known earlier results, which are not checked again
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
  const running = accounts.map(async ({ provider: { id, name, apiKey }, account }) => {
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
  return (await Promise.all(running)).flat();
}
