import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  APP_CONFIG,
  type AppConfig,
  type ProviderConfig,
} from '../../platform/config/app-config.js';
import type { OwnAccountForm } from '../../vendors/vendor.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { ownAccountFormOf } from '../../vendors/vendors.js';
import type { Upstream } from '../../vendors/upstream.js';
import { CredentialDirectory, type OwnCredentials } from './credential-directory.service.js';
import { CredentialSeal } from './credential-seal.service.js';
import { CredentialUseLog } from './credential-use.log.js';
import type { OwnCredential } from './credential.repository.js';
import { HttpTransport } from '../../vendors/transport/http-transport.js';

/** Calls addresses that follow from what tenants say: public ones only, on connections of their own. */
export class OwnAccountTransport extends HttpTransport {}

/** Adapters kept; of those the least recently used one goes first. */
const MAX_UPSTREAMS = 1_000;

/** A provider that takes accounts of tenants, and what has to be said of one. */
interface OwnAccountProvider {
  provider: ProviderConfig;
  form: OwnAccountForm;
}

/** A credential that a request may use. */
export interface OwnAccess {
  readonly credential: OwnCredential;
  /** Whether the address follows from what the tenant says, so that a failure there is its own. */
  readonly hasOwnAddress: boolean;
}

const NONE: readonly OwnAccess[] = [];

/** The adapters that speak to providers with the credentials of tenants. */
@Injectable()
export class OwnUpstreams {
  private readonly logger = new Logger(OwnUpstreams.name);
  private readonly providers: ReadonlyMap<string, OwnAccountProvider>;
  /** By the credential's id, which stands for one key for ever. */
  private readonly upstreams = new LRUCache<string, Upstream>({ max: MAX_UPSTREAMS });

  constructor(
    @Inject(APP_CONFIG) config: AppConfig,
    private readonly registry: UpstreamRegistry,
    private readonly seal: CredentialSeal,
    private readonly directory: CredentialDirectory,
    private readonly transport: OwnAccountTransport,
    private readonly uses: CredentialUseLog,
  ) {
    this.providers = new Map(
      config.ownAccountProviders.map((provider) => [
        provider.id,
        { provider, form: ownAccountFormOf(provider) },
      ]),
    );
  }

  /** The providers that take accounts of tenants, by id. */
  providersOnOffer(): ReadonlyMap<string, OwnAccountProvider> {
    return this.providers;
  }

  /** The accounts that a tenant's requests may use. Answers at once where the tenant is known. */
  of(tenantId: string): readonly OwnAccess[] | Promise<readonly OwnAccess[]> {
    const known = this.directory.of(tenantId);
    return known instanceof Promise
      ? known.then((read) => this.accesses(read))
      : this.accesses(known);
  }

  /**
   * The adapter of a credential, which is about to be used.
   *
   * @throws UpstreamError `operator` when the stored key is of no use
   */
  use({ credential, hasOwnAddress }: OwnAccess): Upstream {
    this.uses.record(credential.id);
    const { id } = credential;
    const known = this.upstreams.get(id);
    if (known) return known;
    const provider = this.configure(credential);
    const made = this.registry.create(provider, hasOwnAddress ? this.transport : undefined);
    this.upstreams.set(id, made);
    return made;
  }

  /**
   * The account for work that was planned with a credential earlier, maybe by another process;
   * undefined when the credential is gone.
   */
  async find(tenantId: string, credentialId: string): Promise<OwnAccess | undefined> {
    const find = async (): Promise<OwnAccess | undefined> =>
      (await this.of(tenantId)).find(({ credential }) => credential.id === credentialId);
    const known = await find();
    if (known) return known;
    // What another process has stored a moment ago may not be known here.
    this.directory.forget(tenantId);
    return find();
  }

  /** To be called after a credential was deleted: its key leaves the memory. */
  drop(credentialId: string): void {
    this.upstreams.delete(credentialId);
  }

  /** Those of providers that do not take accounts of tenants any more are left out. */
  private accesses(credentials: OwnCredentials): readonly OwnAccess[] {
    if (credentials.length === 0) return NONE;
    return credentials.flatMap((credential) => {
      const offer = this.providers.get(credential.provider);
      return offer ? [{ credential, hasOwnAddress: offer.form.hasOwnAddress(offer.provider) }] : [];
    });
  }

  private configure(credential: OwnCredential): ProviderConfig {
    const { id, settings } = credential;
    try {
      const { provider, form } = this.providers.get(credential.provider)!;
      const key = this.seal.unseal(credential.sealedKey(), id);
      return form.configure(provider, { key, settings });
    } catch (error) {
      this.logger.error(`The provider credential ${id} is of no use: ${(error as Error).name}`);
      throw new UpstreamError({
        failure: 'operator',
        message: 'the stored credential cannot be used',
      });
    }
  }
}
