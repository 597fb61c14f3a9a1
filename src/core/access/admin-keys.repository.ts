import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { newestFirst } from '../../platform/database/newest-first.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { AdminKeyEntity } from './admin-key.entity.js';
import { hashApiKey, previewApiKey } from './api-key.js';

export interface AdminKeyDraft extends Pick<AdminKeyEntity, 'name' | 'role' | 'expiresAt'> {
  readonly plaintext: string;
}

/** Stores operators' keys. Of a key itself, only its hash and a preview are stored. */
@Injectable()
export class AdminKeyRepository {
  constructor(
    @InjectRepository(AdminKeyEntity) private readonly keys: Repository<AdminKeyEntity>,
    private readonly database: Database,
  ) {}

  /** @returns undefined when the key exists already */
  async insert(
    { plaintext, ...draft }: AdminKeyDraft,
    executor: SqlExecutor,
  ): Promise<AdminKeyEntity | undefined> {
    const keyHash = Buffer.from(hashApiKey(plaintext), 'hex');
    const keyPreview = previewApiKey(plaintext);
    const { identifiers } = await this.within(executor)
      .createQueryBuilder()
      .insert()
      .values({ ...draft, keyHash, keyPreview })
      .orIgnore()
      .execute();
    const [created] = identifiers;
    return created && this.findById(String(created.id), executor);
  }

  /** Returns keys by hash in hex; unknown hashes are left out. */
  async findByHashes(
    hashes: readonly string[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<Map<string, AdminKeyEntity>> {
    const keyHash = In(hashes.map((hash) => Buffer.from(hash, 'hex')));
    const keys = await this.within(executor).findBy({ keyHash });
    return new Map(keys.map((key) => [key.keyHash.toString('hex'), key]));
  }

  /** Returns a page, newest first. @param after creation time and id of the previous page's last key */
  page(limit: number, after?: readonly string[]): Promise<AdminKeyEntity[]> {
    return newestFirst(this.keys.createQueryBuilder('key'), limit, after).getMany();
  }

  async findById(
    id: string,
    executor: SqlExecutor = this.database,
  ): Promise<AdminKeyEntity | undefined> {
    return (await this.within(executor).findOneBy({ id })) ?? undefined;
  }

  /** Returns the ids of active admin keys, locked so that concurrent revocations cannot remove all of them. */
  async lockActiveAdmins(transaction: SqlExecutor): Promise<string[]> {
    const { rows } = await transaction.query<{ id: string }>(
      `SELECT id FROM admin_keys
        WHERE role = 'admin' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        ORDER BY id FOR UPDATE`,
    );
    return rows.map(({ id }) => id);
  }

  /** @returns the revoked key; undefined when it is unknown or was revoked before */
  async revoke(id: string, executor: SqlExecutor): Promise<AdminKeyEntity | undefined> {
    const open = { id, revokedAt: IsNull() };
    const { affected } = await this.within(executor).update(open, { revokedAt: () => 'now()' });
    return affected === 1 ? this.findById(id, executor) : undefined;
  }

  /** Returns whether a key was ever created. */
  areThereAny(executor: SqlExecutor): Promise<boolean> {
    return this.within(executor).exists();
  }

  /** Sets `last_used_at`, at most once a minute. */
  async noteUse(id: string): Promise<void> {
    await this.database.query(
      `UPDATE admin_keys SET last_used_at = now()
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [id],
    );
  }

  private within(executor: SqlExecutor): Repository<AdminKeyEntity> {
    return this.database.within(executor, this.keys);
  }
}

/** Returns a key's fields for the audit log. */
export function auditedAdminKey(key: AdminKeyEntity): JsonObject {
  return {
    name: key.name,
    key_preview: key.keyPreview,
    role: key.role,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
