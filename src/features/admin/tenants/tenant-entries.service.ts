import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Author } from '../../../core/access/author.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { auditedEntry, GrantsService } from '../../../core/ledger/grants.service.js';
import { StatementReader } from '../../../core/ledger/statement.reader.js';
import { Database } from '../../../platform/database/database.js';
import { toStoredText } from '../../../platform/database/stored-text.js';
import { ConflictError } from '../../../platform/errors/gateway-errors.js';
import { readCursor, toCursorPage, type CursorPage } from '../../../platform/http/cursor-page.js';
import type { LedgerEntryDto, LedgerEntryQueryDto } from './tenant-entries.dto.js';
import { TenantsAdmin } from './tenants.service.js';

/** A grant or correction by an operator. */
export interface NewEntry {
  kind: 'grant' | 'correction';
  /** Can be negative for a correction. */
  credits: number;
  memo: string | null;
}

/** Operator access to tenants' ledgers. */
@Injectable()
export class TenantEntries {
  constructor(
    private readonly database: Database,
    private readonly tenants: TenantsAdmin,
    private readonly grants: GrantsService,
    private readonly statements: StatementReader,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Adds a grant or correction, once per idempotency key.
   * @throws NotFoundError (`tenant_id`), also for a deleted tenant
   * @throws ConflictError (`credits`) when a correction exceeds the available credits, or
   * (`idempotency-key`) when the key was used for another entry
   */
  add(
    author: Author,
    tenantId: string,
    entry: NewEntry,
    idempotencyKey: string | undefined,
  ): Promise<LedgerEntryDto> {
    return this.database.transaction(async (client) => {
      await this.tenants.lock(client, tenantId);
      if (idempotencyKey === undefined) return this.write(client, author, tenantId, entry);
      const known = await claim(client, tenantId, idempotencyKey, entry);
      if (known) return known;
      const answer = await this.write(client, author, tenantId, entry);
      await client.query(
        `UPDATE ledger_idempotency_keys SET answer = $3
         WHERE tenant_id = $1 AND idempotency_key = $2`,
        [tenantId, toStoredText(idempotencyKey), JSON.stringify(answer)],
      );
      return answer;
    });
  }

  /** Lists entries, newest first. @throws NotFoundError (`tenant_id`) */
  async list(
    tenantId: string,
    { limit, cursor, kind }: LedgerEntryQueryDto,
  ): Promise<CursorPage<LedgerEntryDto>> {
    const { id } = await this.tenants.find(tenantId);
    const place = readCursor(cursor, ['time', 'integer']);
    const rows = await this.statements.newestOf(id, {
      limit: limit + 1,
      ...(kind && { kind }),
      ...(place && { before: { at: place[0]!, id: place[1]! } }),
    });
    return toCursorPage(
      rows,
      limit,
      ({ at, id: entryId }) => [at, entryId],
      (entry) => ({
        id: entry.id,
        created_at: entry.createdAt.toISOString(),
        kind: entry.kind,
        amount: entry.amount,
        request_id: entry.requestId,
        memo: entry.memo,
      }),
    );
  }

  private async write(
    client: PoolClient,
    author: Author,
    tenantId: string,
    { kind, credits, memo }: NewEntry,
  ): Promise<LedgerEntryDto> {
    const entry =
      kind === 'grant'
        ? await this.grants.grantWithin(client, tenantId, credits, memo)
        : await this.grants.correctWithin(client, tenantId, credits, memo);
    await this.audit.record(client, author, auditedEntry(tenantId, entry));
    return {
      id: entry.id,
      created_at: entry.createdAt.toISOString(),
      kind,
      amount: entry.amount,
      request_id: null,
      memo,
    };
  }
}

/**
 * Claims the idempotency key. The tenant's lock serializes concurrent requests.
 * @returns the earlier response; undefined when there is none
 * @throws ConflictError (`idempotency-key`) when the key was used for another entry
 */
async function claim(
  client: PoolClient,
  tenantId: string,
  key: string,
  { kind, credits, memo }: NewEntry,
): Promise<LedgerEntryDto | undefined> {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, credits, memo]))
    .digest();
  const values = [tenantId, toStoredText(key), hash];
  const { rowCount } = await client.query(
    `INSERT INTO ledger_idempotency_keys (tenant_id, idempotency_key, body_hash)
     VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    values,
  );
  if (rowCount === 1) return undefined;
  const { rows } = await client.query<{ answer: string; is_same: boolean }>(
    `SELECT answer, body_hash = $3 AS is_same FROM ledger_idempotency_keys
     WHERE tenant_id = $1 AND idempotency_key = $2`,
    values,
  );
  const [known] = rows;
  if (known?.is_same !== true) {
    throw new ConflictError(
      'idempotency-key',
      'This `Idempotency-Key` was used for another entry. Use a new key for a new entry.',
    );
  }
  return JSON.parse(known.answer) as LedgerEntryDto;
}
