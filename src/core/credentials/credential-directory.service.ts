import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { CredentialRepository, type OwnCredential } from './credential.repository.js';
/** A tenant that is in use is read again in passing, so that nobody waits. */
const REFRESH_AFTER_MS = 400;

/** Credentials of one tenant, newest first. */
export type OwnCredentials = readonly OwnCredential[];

const NONE: OwnCredentials = [];

/** The credentials of each tenant. That a tenant has none, as most, is remembered as well. */
@Injectable()
export class CredentialDirectory {
  private readonly tenants: FreshDirectory<OwnCredentials>;

  constructor(repository: CredentialRepository) {
    this.tenants = new FreshDirectory<OwnCredentials>({
      read: async (tenantIds) => {
        const found = await repository.findByTenants(tenantIds);
        return new Map(tenantIds.map((id) => [id, found.get(id) ?? NONE]));
      },
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** Answers at once, without a promise, where the tenant is known. */
  of(tenantId: string): OwnCredentials | Promise<OwnCredentials> {
    const known = this.tenants.get(tenantId);
    return known instanceof Promise ? known.then((read) => read ?? NONE) : known;
  }

  /** To be called after a change is committed: the next request sees it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
  }
}
