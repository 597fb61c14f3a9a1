import { Logger } from '@nestjs/common';
import type { ExactPricing } from '../../../canonical/exact-pricing.js';
import type {
  AppConfig,
  PoolAccount,
  ProviderConfig,
} from '../../../platform/config/app-config.js';
import type { UpstreamRegistry } from '../../../vendors/upstream.registry.js';
import { allowanceReaderOf } from '../../../vendors/vendors.js';
import type { CatalogueService } from '../../catalogue/catalogue.service.js';
import { exactPricingOf, isCompletePricing } from '../../catalogue/exact-pricing-of.js';
import type { PoolMember } from './pool-member.js';

/** Provides the operator's accounts with providers that have several. */
export class OperatorPools {
  private readonly logger = new Logger(OperatorPools.name);
  private known: { providers: readonly ProviderConfig[]; catalogue: string } | undefined;
  private pools: ReadonlyMap<string, readonly PoolMember[]> = new Map();

  constructor(
    private readonly upstreams: Pick<UpstreamRegistry, 'providers'>,
    private readonly catalogue: Pick<CatalogueService, 'rows' | 'fingerprint'>,
    private readonly config: Pick<AppConfig, 'declared'>,
  ) {}

  /** True when a provider has several accounts. */
  get hasAny(): boolean {
    return this.upstreams.providers.some(({ accounts }) => accounts !== undefined);
  }

  /** Returns the accounts in declared order; undefined for a provider with a single account. */
  of(provider: string): readonly PoolMember[] | undefined {
    const { known, catalogue } = this;
    const { providers } = this.upstreams;
    // Both are replaced when the configuration changes.
    if (known?.providers !== providers || known.catalogue !== catalogue.fingerprint) {
      this.read(providers);
    }
    return this.pools.size === 0 ? undefined : this.pools.get(provider);
  }

  private read(providers: readonly ProviderConfig[]): void {
    this.known = { providers, catalogue: this.catalogue.fingerprint };
    const pools = new Map<string, readonly PoolMember[]>();
    for (const provider of providers) {
      const members = provider.accounts?.map((account) => this.toMember(provider, account));
      if (members) pools.set(provider.id, members);
    }
    this.pools = pools;
  }

  private toMember(provider: ProviderConfig, account: PoolAccount): PoolMember {
    const { id, weight, requestsPerMinute, tokensPerMinute, models, prices } = account;
    return {
      key: `${provider.id}@${id}`,
      account: id,
      weight,
      requestsPerMinute,
      tokensPerMinute,
      models,
      readAllowance: allowanceReaderOf(provider),
      hasFilePrices: this.config.declared.providers.some((entry) => entry.id === provider.id),
      prices: prices && this.exactPrices(`${provider.id}.accounts.${id}`, prices),
    };
  }

  /** Rejects a price that leaves part of its model unpriced, as that part would be free. */
  private exactPrices(
    name: string,
    prices: NonNullable<PoolAccount['prices']>,
  ): ReadonlyMap<string, ExactPricing> {
    const exact = new Map<string, ExactPricing>();
    for (const [row, pricing] of Object.entries(prices)) {
      const model = this.catalogue.rows.find(({ catalogueId }) => catalogueId === row);
      if (model && isCompletePricing(model.kind, pricing)) {
        exact.set(row, exactPricingOf(pricing));
        continue;
      }
      const why = model ? 'does not price every unit of the model' : 'is not in the catalogue';
      this.logger.error(`${name}.prices: ${row} ${why}; using the catalogue's price`);
    }
    return exact;
  }
}
