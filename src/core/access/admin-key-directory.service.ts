import { Injectable, Logger } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { messageOf } from '../../platform/errors/thrown.js';
import type { AdminKeyEntity } from './admin-key.entity.js';
import { AdminKeyRepository } from './admin-keys.repository.js';
import { hashApiKey } from './api-key.js';

const USE_PRECISION_MS = 60_000;

/** Resolves presented operator keys. Caches results for less than a second. */
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

  /** Returns undefined for an unknown key; expired and revoked keys are returned as well. */
  async resolve(presentedKey: string): Promise<AdminKeyEntity | undefined> {
    return this.resolveHash(hashApiKey(presentedKey));
  }

  /** Resolves a key by its SHA-256 in hex. */
  async resolveHash(hash: string): Promise<AdminKeyEntity | undefined> {
    return this.keys.get(hash);
  }

  /** Records the use of a key, at most once a minute, without waiting. */
  noteUse(id: string): void {
    const nowMs = Date.now();
    if (nowMs - (this.notedAtMs.get(id) ?? 0) < USE_PRECISION_MS) return;
    this.notedAtMs.set(id, nowMs);
    this.adminKeys.noteUse(id).catch((error: unknown) => {
      this.logger.warn(`admin key use not recorded: ${messageOf(error)}`);
    });
  }

  /** Drops a changed key from the cache. Call it after the commit. */
  forget(id: string): void {
    this.keys.forget(id);
  }
}
