import { Injectable, Logger } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { messageOf } from '../../platform/errors/thrown.js';
import type { AdminKeyEntity } from './admin-key.entity.js';
import { AdminKeyRepository } from './admin-keys.repository.js';
import { hashApiKey } from './api-key.js';

/** Between two notes that a key is in use. */
const NOTE_USE_AFTER_MS = 60_000;

/** Which operator's key a presented one is; remembered for less than a second, as of tenants' keys. */
@Injectable()
export class AdminKeyDirectory {
  private readonly logger = new Logger(AdminKeyDirectory.name);
  /** By hash. */
  private readonly keys: FreshDirectory<AdminKeyEntity>;
  private readonly notedAtMs = new Map<string, number>();

  constructor(private readonly adminKeys: AdminKeyRepository) {
    this.keys = new FreshDirectory<AdminKeyEntity>({
      read: (hashes) => adminKeys.findByHashes(hashes),
      nameOf: ({ id }) => id,
    });
  }

  /** Undefined: no such key. Expired and revoked ones are found as well. */
  async resolve(presentedKey: string): Promise<AdminKeyEntity | undefined> {
    return this.resolveHash(hashApiKey(presentedKey));
  }

  /** The same by the key's SHA-256 in hex. */
  async resolveHash(hash: string): Promise<AdminKeyEntity | undefined> {
    return this.keys.get(hash);
  }

  /** To be called when a key has opened something. Waits for nothing. */
  noteUse(id: string): void {
    const nowMs = Date.now();
    if (nowMs - (this.notedAtMs.get(id) ?? 0) < NOTE_USE_AFTER_MS) return;
    this.notedAtMs.set(id, nowMs);
    this.adminKeys.noteUse(id).catch((error: unknown) => {
      this.logger.warn(`The use of an admin key could not be noted: ${messageOf(error)}`);
    });
  }

  /** To be called after a key's change is committed: the next request sees it. */
  forget(id: string): void {
    this.keys.forget(id);
  }
}
