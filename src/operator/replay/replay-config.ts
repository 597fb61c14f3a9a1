import type { ByokAccess } from '../../core/credentials/byok-upstreams.service.js';
import { ByokCredential } from '../../core/credentials/credential.repository.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { LiveSettings } from '../../platform/config/live-settings.js';
import { toProvider } from '../../platform/config/configured-providers.js';
import { OperatorPools } from '../../core/routing/pool/operator-pools.js';
import { VENDORS } from '../../vendors/vendors.js';
import type { WindowRow } from './log-window.js';
import type { ReplayEnvironment } from './replay-environment.js';

/** Models, prices, providers and settings for planning requests, from the versions that the log names. */
export class ReplayConfig {
  readonly catalogue: CatalogueService;
  private readonly settings: LiveSettings;
  /** Accounts of providers that have several. */
  readonly pools: OperatorPools;
  private readonly providers: Set<string>;
  private version = 0;

  /** @param providers that served requests in the window, whether or not this process has their keys */
  constructor(
    started: AppConfig,
    private readonly environment: ReplayEnvironment,
    providers: Iterable<string>,
  ) {
    this.catalogue = new CatalogueService(started);
    this.settings = new LiveSettings(started);
    const { config } = this.settings;
    this.pools = new OperatorPools(config, this.catalogue, config);
    const documents = [...environment.versions.values()].map(({ document }) => document);
    this.providers = new Set([
      ...started.providers.map(({ id }) => id),
      ...documents.flatMap((document) => document.providers.map(({ id }) => id)),
      ...providers,
    ]);
    const numbers = [...environment.versions.keys()];
    if (numbers.length > 0) this.use(Math.min(...numbers));
  }

  get limits(): AppConfig['limits'] {
    return this.settings.config.limits;
  }

  get hedgePercent(): number {
    return this.settings.config.hedgePercent;
  }

  get byokFeePercent(): number {
    return this.settings.config.byokFeePercent;
  }

  isConfigured(provider: string): boolean {
    return this.providers.has(provider);
  }

  /** Switches to the version of the row if it is newer than the current one. */
  useVersionOf({ configVersion }: WindowRow): void {
    if (configVersion !== null && configVersion > this.version) this.use(configVersion);
  }

  /** Returns the BYOK accounts that a request can use: those of the provider that served its tenant. */
  accountsOf({ tenantId, provider }: WindowRow, { credentials }: ReplayEnvironment): ByokAccess[] {
    const stored = credentials.get(tenantId)?.filter((each) => each.provider === provider) ?? [];
    const accounts = stored.length > 0 ? stored : [deletedCredential(tenantId, provider)];
    return accounts.map((credential) => ({ credential, hasTenantAddress: false }));
  }

  private use(number: number): void {
    const version = this.environment.versions.get(number);
    if (!version) return;
    this.version = number;
    // No vendor is called, so keys are not needed.
    const providers = version.document.providers.map(({ api_key: _, ...entry }) =>
      toProvider(entry, undefined, VENDORS),
    );
    this.settings.use(version.document.settings, providers);
    this.catalogue.use(version.catalogue, number);
  }
}

/** Replaces an account that has been deleted since. */
function deletedCredential(tenantId: string, provider: string): ByokCredential {
  return new ByokCredential({
    id: tenantId,
    provider,
    allowSharedFallback: false,
    settings: {},
    encryptedKey: Buffer.alloc(0),
  });
}
