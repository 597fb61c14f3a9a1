import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { CredentialRepository, type ByokCredential } from './credential.repository.js';
/** Age at which an active tenant is refreshed in the background. */
const REFRESH_AFTER_MS = 400;

/** Credentials of one tenant, newest first. */
export type ByokCredentials = readonly ByokCredential[];

const NONE: ByokCredentials = [];

/** Caches each tenant's credentials, including the absence of any. */
@Injectable()
export class CredentialDirectory {
  private readonly tenants: FreshDirectory<ByokCredentials>;

  constructor(repository: CredentialRepository) {
    this.tenants = new FreshDirectory<ByokCredentials>({
      read: async (tenantIds) => {
        const found = await repository.findByTenants(tenantIds);
        return new Map(tenantIds.map((id) => [id, found.get(id) ?? NONE]));
      },
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** Synchronous if the tenant is cached. */
  of(tenantId: string): ByokCredentials | Promise<ByokCredentials> {
    const known = this.tenants.get(tenantId);
    return known instanceof Promise ? known.then((read) => read ?? NONE) : known;
  }

  /** Call after committing a change, so that the next request sees it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
  }
}
