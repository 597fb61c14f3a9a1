import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { BOOTSTRAP_AUTHOR } from '../access/author.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { mergeRows, toCatalogue, type CatalogueRows } from '../catalogue/load-catalogue.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { keyFromVariable, toProvider } from '../../platform/config/configured-providers.js';
import {
  LiveSettings,
  normalSettings,
  type SettingValues,
} from '../../platform/config/live-settings.js';
import { programVersion } from '../../platform/config/program-version.js';
import { DatabaseNotices } from '../../platform/database/database-notices.js';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import { ConflictError, DatabaseUnavailableError } from '../../platform/errors/gateway-errors.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { ambientFaultOf, faultOfProvider, VENDORS } from '../../vendors/vendors.js';
import {
  BadConfigError,
  builtInFingerprint,
  catalogueOf,
  configFingerprint,
  shownDocument,
  type ConfigDocument,
  type StoredAccount,
  type StoredProvider,
} from './config-document.js';
import { keyName } from './provider-keys.js';
import {
  CONFIG_CHANNEL,
  ConfigVersions,
  isOlder,
  type ConfigVersion,
  type PricedVersion,
} from './config-versions.js';

/** Number of versions that startup goes back to find one it can adopt. */
const MAX_VERSIONS_TRIED = 50;

/**
 * Holds the configuration this process uses: the latest version, within a second of its commit, overridden by the
 * process's own variables and files.
 */
@Injectable()
export class ConfigurationService implements OnModuleInit {
  private readonly logger = new Logger(ConfigurationService.name);
  private version: ConfigVersion | undefined;
  private reading: Promise<void> | undefined;
  private isReadAgain = false;
  /** The version that could not be adopted and why; undefined when the latest is in use. */
  private refused: { readonly number: number; readonly reason: string } | undefined;
  private inUse: { settings: SettingValues; providers: readonly ProviderConfig[] } = {
    settings: {},
    providers: [],
  };
  private readonly listeners = new Set<() => void>();
  /** Fingerprint of the configuration in force, once computed. */
  private inForce: string | undefined;
  /** One sentence per provider of the version that this process cannot call. */
  faults: readonly string[] = [];

  constructor(
    private readonly versions: ConfigVersions,
    private readonly notices: DatabaseNotices,
    private readonly settings: LiveSettings,
    private readonly catalogue: CatalogueService,
    private readonly upstreams: UpstreamRegistry,
  ) {}

  /** Returns the fingerprint of the configuration in force; see `configFingerprint`. */
  get fingerprint(): string {
    return (this.inForce ??= this.fingerprintOf([]));
  }

  /** Undefined before the first version. */
  get current(): ConfigVersion | undefined {
    return this.version;
  }

  /** Explains why this process does not use the latest version; undefined when it does. */
  get adoptionFault(): string | undefined {
    if (!this.refused) return undefined;
    const { number, reason } = this.refused;
    const own = this.version
      ? `version ${this.version.number}`
      : 'the configuration declared by its files and variables';
    return `Version ${number} of the configuration cannot be adopted by this instance, which keeps using ${own}: ${reason}.`;
  }

  /** Adopts the latest usable version before anything depends on it. */
  async onModuleInit(): Promise<void> {
    let version = await this.versions.latestAfter(0);
    for (let tries = 0; version && tries < MAX_VERSIONS_TRIED; tries++) {
      if (await this.adopt(version)) return;
      version = await this.versions.latestBefore(version.number);
    }
  }

  /**
   * Creates the first version from this process's files and variables, or another one when the program's built-in
   * models changed. Call it before the service listens.
   */
  async begin(role: 'gateway' | 'worker'): Promise<void> {
    if (role === 'gateway') await this.makeOwnVersion();
    await this.refresh();
    this.notices.listen(CONFIG_CHANNEL, () => void this.refresh(), {
      expression: 'SELECT max(number) FROM config_versions',
      known: () => this.version?.number.toString() ?? null,
    });
  }

  /** Adopts the latest version. Resolves once the version as of the call is in use. Never rejects. */
  refresh(): Promise<void> {
    if (this.reading) this.isReadAgain = true;
    this.reading ??= this.readToTheLast();
    return this.reading;
  }

  /** Number of the latest version in the database; 0 before the first. */
  latestNumber(): Promise<number> {
    return this.versions.latestNumber();
  }

  /** Registers a listener for version changes. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Configuration declared by this process's own files and variables. */
  get declared(): ConfigDocument {
    const { declared } = this.settings.config;
    return {
      models: this.catalogue.declaredRows,
      providers: declared.providers,
      settings: normalSettings(declared.settings),
    };
  }

  private async makeOwnVersion(): Promise<void> {
    const { version } = this;
    // A version that cannot be adopted stays the latest until an operator replaces it.
    if (this.refused) return;
    const isFirst = version === undefined;
    const isNewer =
      version !== undefined &&
      version.builtIn !== builtInFingerprint() &&
      !isOlder(programVersion(), version.program);
    if (!isFirst && !isNewer) return;
    try {
      await this.versions.change(
        BOOTSTRAP_AUTHOR,
        (latest) => ({ value: latest ? shownDocument(latest.document) : this.first() }),
        {
          action: 'config.bootstrap',
          comment: isFirst
            ? 'Declared by files and variables at the first start'
            : `Models of Model Gateway ${programVersion()}`,
          mayNameVariables: true,
        },
      );
    } catch (error) {
      const isRefused = error instanceof BadConfigError || error instanceof ConflictError;
      if (isFirst || !isRefused) throw error;
      // An older program's rules may have allowed what this one rejects. That must not prevent startup.
      const fault = `Version ${version.number} of the configuration keeps its models and prices, not those of Model Gateway ${programVersion()}: ${error.message}`;
      this.faults = [...this.faults, fault];
      this.logger.warn(fault);
    }
  }

  /** Ignores invalid rows, which were reported when the file was read. */
  private first(): ConfigDocument {
    const rows = new Map(this.declared.models.map((row) => [String(row.id), row]));
    const merged = catalogueOf({ models: [...rows.values()] });
    const { models } = toCatalogue(new Map([...merged].filter(([id]) => rows.has(id))));
    const usable = new Set(models.map(({ id }) => id));
    return {
      ...this.declared,
      models: [...rows].filter(([id, row]) => usable.has(id) || row.removed).map(([, row]) => row),
    };
  }

  private async readToTheLast(): Promise<void> {
    try {
      await this.read();
    } finally {
      this.reading = undefined;
      // A notification arrived just before the loop ended.
      if (this.isReadAgain) await this.refresh();
    }
  }

  private async read(): Promise<void> {
    do {
      this.isReadAgain = false;
      try {
        const latest = await this.versions.latestAfter(this.version?.number ?? 0);
        if (latest) await this.adopt(latest);
      } catch (error) {
        // The outage is reported elsewhere and the next read retries.
        if (gatewayErrorOf(error) instanceof DatabaseUnavailableError) continue;
        this.logger.warn(`configuration not read: ${messageOf(error)}`);
      }
    } while (this.isReadAgain);
  }

  /**
   * Adopts a version, or keeps the current one when that fails. A database outage does not count as a failure.
   *
   * @returns whether the version is in use
   */
  private async adopt(version: PricedVersion): Promise<boolean> {
    try {
      await this.use(version);
      this.refused = undefined;
      return true;
    } catch (error) {
      if (gatewayErrorOf(error) instanceof DatabaseUnavailableError) throw error;
      const { number } = version;
      const reason = messageOf(error);
      const isKnown = this.refused?.number === number && this.refused.reason === reason;
      // At startup, report the latest version, whichever earlier ones fail after it.
      if ((this.refused?.number ?? 0) <= number) this.refused = { number, reason };
      if (!isKnown) this.logger.error(`configuration version ${number} not adopted: ${reason}`);
      return false;
    }
  }

  /** Applies a version in one turn of the event loop, so that no request sees half of it. */
  private async use(version: PricedVersion): Promise<void> {
    const { document } = version;
    const keys = await this.versions.keysOf(document.providers);
    const faults: string[] = [];
    const configured = document.providers.flatMap((provider) =>
      this.configure(provider, keys, faults),
    );
    const providers = configured.filter((provider) => {
      const fault = ambientFaultOf(provider);
      if (fault !== undefined) {
        faults.push(`The provider ${provider.id} cannot be called by this instance: ${fault}.`);
      }
      return fault === undefined;
    });
    for (const provider of providers) {
      const fault = faultOfProvider(provider);
      if (fault !== undefined) throw new Error(`the provider ${provider.id}: ${fault}`);
    }
    const inForce = this.fingerprintOf(faults, version);
    const before = { ...this.inUse, rows: this.catalogue.versionRows };
    try {
      this.apply(document.settings, providers, version.catalogue, version.number);
    } catch (error) {
      this.apply(before.settings, before.providers, before.rows, this.version?.number ?? null);
      throw error;
    }
    const { catalogue: _, ...summary } = version;
    this.version = summary;
    this.faults = faults;
    this.inForce = inForce;
    for (const fault of faults) this.logger.warn(fault);
    this.logger.log(`configuration version ${version.number} in use (${this.fingerprint})`);
    for (const listener of this.listeners) {
      try {
        listener();
      } catch (error) {
        // The version stays in use.
        this.logger.error(`configuration listener failed: ${messageOf(error)}`);
      }
    }
  }

  private apply(
    settings: SettingValues,
    providers: readonly ProviderConfig[],
    rows: CatalogueRows,
    number: number | null,
  ): void {
    this.settings.use(settings, providers);
    this.upstreams.refresh();
    this.catalogue.use(rows, number);
    this.inUse = { settings, providers };
  }

  private configure(
    provider: StoredProvider,
    keys: ReadonlyMap<string, string>,
    faults: string[],
  ): ProviderConfig[] {
    const { api_key: _, accounts, ...entry } = provider;
    const { id } = entry;
    const { declared } = this.settings.config;
    if (declared.providers.some((one) => one.id === id)) return [];
    const own = this.keyOf(provider, keyName(id), keys);
    if ('fault' in own) {
      faults.push(
        `The provider ${id} of the configuration cannot be called by this instance: ${own.fault}.`,
      );
      return [];
    }
    if (!accounts) return [toProvider(entry, own.apiKey, VENDORS)];
    // The other accounts take over the share of one that cannot be called.
    const called = accounts.flatMap((stored) => {
      const { api_key: _own, ...account } = stored;
      const key = this.keyOf(stored, keyName(id, account.id), keys);
      if (!('fault' in key)) return [{ account, key: key.apiKey }];
      faults.push(
        `The account ${account.id} of the provider ${id} cannot be called by this instance: ${key.fault}.`,
      );
      return [];
    });
    if (called.length === 0) return [];
    const pool = { ...entry, accounts: called.map(({ account }) => account) };
    return [
      toProvider(
        pool,
        own.apiKey,
        VENDORS,
        called.map(({ key }) => key),
      ),
    ];
  }

  private keyOf(
    { api_key: stored, api_key_env: variable }: Pick<StoredAccount, 'api_key' | 'api_key_env'>,
    name: string,
    keys: ReadonlyMap<string, string>,
  ): { apiKey: string | undefined } | { fault: string } {
    const key = keyFromVariable(variable, this.settings.config.declared.environment);
    if ('fault' in key) return { fault: `its api_key_env ${key.fault}` };
    if (stored && !keys.has(name)) {
      return { fault: 'its key cannot be decrypted with this GATEWAY_SECRET' };
    }
    return { apiKey: keys.get(name) ?? key.apiKey };
  }

  /** Equals the version's fingerprint when nothing is overridden or missing. */
  private fingerprintOf(faults: readonly string[], version?: PricedVersion): string {
    const { models, providers, settings } = this.declared;
    const rows = mergeRows(version?.catalogue ?? catalogueOf({ models: [] }), models);
    const own = new Set(providers.map(({ id }) => id));
    const others = version?.document.providers.filter(({ id }) => !own.has(id)) ?? [];
    const all = { ...version?.document.settings, ...settings };
    const fingerprint = configFingerprint(rows, [...providers, ...others], all);
    return faults.length === 0 ? fingerprint : `${fingerprint}-${faults.length}`;
  }
}
