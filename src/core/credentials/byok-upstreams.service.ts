import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  APP_CONFIG,
  type AppConfig,
  type ProviderConfig,
} from '../../platform/config/app-config.js';
import type { ByokAccountForm } from '../../vendors/vendor.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { ReadAllowance } from '../../vendors/account-allowance.js';
import { allowanceReaderOf, ownAccountFormOf, vendorOf } from '../../vendors/vendors.js';
import type { Upstream } from '../../vendors/upstream.js';
import type { Caller } from '../access/caller.js';
import type { KeyChain } from '../access/scope.js';
import { CredentialDirectory, type ByokCredentials } from './credential-directory.service.js';
import { CredentialCipher } from './credential-cipher.service.js';
import { CredentialUseLog } from './credential-use.log.js';
import type { ByokCredential } from './credential.repository.js';
import { HttpTransport } from '../../vendors/transport/http-transport.js';
import { toError } from '../../platform/errors/thrown.js';

/** Transport for tenant-defined addresses: public addresses only, on separate connections. */
export class ByokTransport extends HttpTransport {}

/** Cached adapters; the least recently used is evicted. */
const MAX_UPSTREAMS = 1_000;

/** A provider that accepts BYOK accounts, and the settings it needs. */
interface ByokProvider {
  provider: ProviderConfig;
  form: ByokAccountForm;
}

/** A credential that a request may use. */
export interface ByokAccess {
  readonly credential: ByokCredential;
  /**
   * True when the address depends on the tenant's settings, so that failures count against the tenant
   * only.
   */
  readonly hasTenantAddress: boolean;
  /**
   * Membership in the pool of the tenant's accounts with the provider; undefined if they are tried
   * in order.
   */
  readonly member?: ByokMember;
}

/** The fields of `PoolMember` for an account. */
interface ByokMember {
  /** The credential's id. */
  readonly key: string;
  readonly weight: number;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  readonly readAllowance: ReadAllowance;
}

type CallingKey = KeyChain & Pick<Caller, 'tenantId'>;

const NONE: readonly ByokAccess[] = [];

/** Provides adapters that use tenants' credentials. */
@Injectable()
export class ByokUpstreams {
  private readonly logger = new Logger(ByokUpstreams.name);
  private providers: ReadonlyMap<string, ByokProvider> = new Map();
  private offered: readonly ProviderConfig[] | undefined;
  /** By credential id; a credential's key never changes. */
  private readonly upstreams = new LRUCache<string, Upstream>({ max: MAX_UPSTREAMS });

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'ownAccountProviders'>,
    private readonly registry: UpstreamRegistry,
    private readonly cipher: CredentialCipher,
    private readonly directory: CredentialDirectory,
    private readonly transport: ByokTransport,
    private readonly uses: CredentialUseLog,
  ) {}

  /** Returns the providers that accept BYOK accounts, by id. */
  providersOnOffer(): ReadonlyMap<string, ByokProvider> {
    const offered = this.config.ownAccountProviders;
    if (offered !== this.offered) {
      this.offered = offered;
      this.providers = new Map(
        offered.map((provider) => [provider.id, { provider, form: ownAccountFormOf(provider) }]),
      );
      // Addresses may have changed.
      this.upstreams.clear();
    }
    return this.providers;
  }

  /** Returns the accounts that a caller's requests may use, without a promise when the tenant is cached. */
  of(caller: CallingKey): readonly ByokAccess[] | Promise<readonly ByokAccess[]> {
    return this.read(caller.tenantId, caller);
  }

  private read(
    tenantId: string,
    chain: KeyChain | undefined,
  ): readonly ByokAccess[] | Promise<readonly ByokAccess[]> {
    const known = this.directory.of(tenantId, chain);
    return known instanceof Promise
      ? known.then((read) => this.accesses(read))
      : this.accesses(known);
  }

  /**
   * Returns the address that a key for a provider is bound to; null when a variable, a file or the tenant
   * determines it.
   */
  addressOf(providerId: string): string | null {
    const { provider, form } = this.providersOnOffer().get(providerId)!;
    const isConfigured = vendorOf(providerId) === undefined && provider.isDeclared !== true;
    return isConfigured && !form.hasOwnAddress(provider) ? provider.baseUrl : null;
  }

  /**
   * Builds an adapter for an account that is not stored, in order to check it.
   *
   * @param given the account's data for an offered provider
   */
  forCheck(
    providerId: string,
    given: Pick<ByokCredential, 'settings'> & { key: string },
  ): Upstream {
    const { provider, form } = this.providersOnOffer().get(providerId)!;
    const own = form.hasOwnAddress(provider) ? this.transport : undefined;
    return this.registry.create(form.configure(provider, given), own);
  }

  /**
   * Returns the adapter of a credential, and records its use.
   *
   * @throws UpstreamError `operator` when the stored key is unusable
   */
  use({ credential, hasTenantAddress }: ByokAccess): Upstream {
    this.uses.record(credential.id);
    const { id } = credential;
    const known = this.upstreams.get(id);
    if (known) return known;
    const provider = this.configure(credential);
    const made = this.registry.create(provider, hasTenantAddress ? this.transport : undefined);
    this.upstreams.set(id, made);
    return made;
  }

  /**
   * Returns the account of work planned earlier, possibly by another process; undefined when the
   * credential was deleted.
   */
  async find(tenantId: string, credentialId: string): Promise<ByokAccess | undefined> {
    const find = async (): Promise<ByokAccess | undefined> =>
      (await this.read(tenantId, undefined)).find(
        ({ credential }) => credential.id === credentialId,
      );
    const known = await find();
    if (known) return known;
    // Another process may have stored it just now.
    this.directory.forget(tenantId);
    return find();
  }

  /** Call after deleting a credential, to remove its key from memory. */
  drop(credentialId: string): void {
    this.upstreams.delete(credentialId);
  }

  /** Omits providers that no longer accept BYOK accounts. */
  private accesses(credentials: ByokCredentials): readonly ByokAccess[] {
    if (credentials.length === 0) return NONE;
    const providers = this.providersOnOffer();
    const sharing = credentials.filter(({ share }) => share !== undefined);
    return credentials.flatMap((credential) => {
      const offer = providers.get(credential.provider);
      if (!offer) return [];
      const { provider, form } = offer;
      const access = { credential, hasTenantAddress: form.hasOwnAddress(provider) };
      return sharing.some((other) => isSamePool(credential, other))
        ? [{ ...access, member: memberOf(credential, provider) }]
        : [access];
    });
  }

  private configure(credential: ByokCredential): ProviderConfig {
    const { id, settings, baseUrl } = credential;
    // The right to change a provider's address does not include its keys.
    if (baseUrl !== null && baseUrl !== this.addressOf(credential.provider)) {
      throw new UpstreamError({
        failure: 'operator',
        message: "the provider's address has changed since the key was stored; store the key again",
      });
    }
    try {
      const { provider, form } = this.providersOnOffer().get(credential.provider)!;
      const key = this.cipher.decrypt(credential.encryptedKey(), id);
      return form.configure(provider, { key, settings });
    } catch (error) {
      this.logger.error(`provider credential ${id} unusable: ${toError(error).name}`);
      throw new UpstreamError({
        failure: 'operator',
        message: 'the stored credential cannot be used',
      });
    }
  }
}

/** Each scope has its own pool, so a weight draws no requests away from the tenant's accounts. */
function isSamePool(one: ByokCredential, other: ByokCredential): boolean {
  return one.provider === other.provider && one.scopeKeyId === other.scopeKeyId;
}

function memberOf({ id, share }: ByokCredential, provider: ProviderConfig): ByokMember {
  return {
    key: id,
    weight: share?.weight ?? 1,
    requestsPerMinute: share?.requestsPerMinute ?? undefined,
    tokensPerMinute: share?.tokensPerMinute ?? undefined,
    readAllowance: allowanceReaderOf(provider),
  };
}
