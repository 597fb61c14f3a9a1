import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { isInScope, type KeyChain } from '../access/scope.js';
import { CredentialRepository, type ByokCredential } from './credential.repository.js';
/** Age at which an active tenant is refreshed in the background. */
const REFRESH_AFTER_MS = 400;

/** Credentials of one tenant, those that serve all its keys first, then newest first. */
export type ByokCredentials = readonly ByokCredential[];

interface CredentialsOfTenant {
  readonly all: ByokCredentials;
  /** Those that serve every key. */
  readonly shared: ByokCredentials;
}

const NONE: CredentialsOfTenant = { all: [], shared: [] };

/** Caches each tenant's credentials, including the absence of any. */
@Injectable()
export class CredentialDirectory {
  private readonly tenants: FreshDirectory<CredentialsOfTenant>;

  constructor(repository: CredentialRepository) {
    this.tenants = new FreshDirectory<CredentialsOfTenant>({
      read: async (tenantIds) => {
        const found = await repository.findByTenants(tenantIds);
        return new Map(tenantIds.map((id) => [id, byScope(found.get(id))]));
      },
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /**
   * Returns the credentials that serve a key's requests, without a promise where the tenant is known.
   *
   * @param chain undefined: those of all keys
   */
  of(tenantId: string, chain: KeyChain | undefined): ByokCredentials | Promise<ByokCredentials> {
    const known = this.tenants.get(tenantId);
    return known instanceof Promise
      ? known.then((read) => serving(read ?? NONE, chain))
      : serving(known, chain);
  }

  /** Call after committing a change, so that the next request sees it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
  }
}

function byScope(all: ByokCredentials | undefined): CredentialsOfTenant {
  return all ? { all, shared: all.filter(({ scopeKeyId }) => scopeKeyId === null) } : NONE;
}

function serving({ all, shared }: CredentialsOfTenant, chain: KeyChain | undefined) {
  if (chain === undefined || all.length === shared.length) return all;
  return all.filter(({ scopeKeyId }) => isInScope(scopeKeyId, chain));
}
