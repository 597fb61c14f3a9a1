import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Maker } from '../access/caller.js';
import { SCOPE_COLUMNS } from '../access/scope.js';
import { APP_CONFIG } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { DecryptionError, SecretBox } from '../../platform/crypto/secret-box.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { previewUrl, type AlertOwner, type AlertRule, type AlertRuleDraft } from './alert.js';

const RECORD = `
  id, ${SCOPE_COLUMNS}, name, is_enabled AS "isEnabled", kind, condition,
  watched_tenant_id AS "watchedTenantId", format, url_preview AS "urlPreview",
  EXISTS (SELECT FROM alert_events WHERE rule_id = alert_rules.id AND is_open) AS "isFiring",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The rules, with URLs that are stored encrypted. Changes belong into a transaction of their caller. */
@Injectable()
export class AlertRuleRepository {
  private readonly box: SecretBox;

  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Parameters<typeof gatewaySecrets>[0],
  ) {
    this.box = new SecretBox(() => gatewaySecrets(config), 'alert-url');
  }

  /** Newest first. */
  async list(owner: AlertOwner): Promise<AlertRule[]> {
    const { rows } = await this.database.query<AlertRule>(
      `SELECT ${RECORD} FROM alert_rules WHERE ${ownedBy(owner)} ORDER BY created_at DESC, id DESC`,
      [owner],
    );
    return rows.map(toRule);
  }

  async find(
    owner: AlertOwner,
    id: string,
    executor: SqlExecutor = this.database,
  ): Promise<AlertRule | undefined> {
    const { rows } = await executor.query<AlertRule>(
      `SELECT ${RECORD} FROM alert_rules WHERE ${ownedBy(owner)} AND id = $2`,
      [owner, id],
    );
    return rows[0] && toRule(rows[0]);
  }

  async count(owner: AlertOwner): Promise<number> {
    const { rows } = await this.database.query<{ rules: number }>(
      `SELECT count(*) AS rules FROM alert_rules WHERE ${ownedBy(owner)}`,
      [owner],
    );
    return rows[0]!.rules;
  }

  /** @returns undefined when its owner has `limit` of them already */
  async insert(
    transaction: SqlExecutor,
    owner: AlertOwner,
    draft: AlertRuleDraft,
    { madeBy, scopeKeyId }: { madeBy: Maker; scopeKeyId: string | null },
    limit: number,
  ): Promise<AlertRule | undefined> {
    const id = randomUUID();
    // One at a time for each owner, or two could both be the last that fits.
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `alert_rules/${owner}`,
    ]);
    const { rows } = await transaction.query<AlertRule>(
      `INSERT INTO alert_rules (tenant_id, id, made_by, name, is_enabled, kind, condition,
         watched_tenant_id, format, sealed_url, url_preview, scope_key_id)
       SELECT $1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13::uuid
        WHERE (SELECT count(*) FROM alert_rules WHERE ${ownedBy(owner)}) < $12
       RETURNING ${RECORD}`,
      [
        owner,
        id,
        madeBy,
        toStoredText(draft.name),
        draft.isEnabled,
        draft.kind,
        JSON.stringify(draft.condition),
        draft.watchedTenantId,
        draft.format,
        this.box.encrypt(draft.url, id),
        previewUrl(draft.url),
        limit,
        scopeKeyId,
      ],
    );
    return rows[0] && toRule(rows[0]);
  }

  /**
   * Changes what is given and nothing else. With another condition, or turned off, it looks for something new:
   * what was the case is forgotten, and nobody is told that it is over.
   */
  async update(
    transaction: SqlExecutor,
    owner: AlertOwner,
    id: string,
    change: Partial<Omit<AlertRuleDraft, 'kind'>>,
  ): Promise<AlertRule | undefined> {
    const { name, isEnabled, condition, watchedTenantId, format, url } = change;
    if (condition !== undefined || isEnabled === false) await forgetStates(transaction, id);
    const { rows } = await transaction.query<AlertRule>(
      `UPDATE alert_rules SET
         name = coalesce($3, name), is_enabled = coalesce($4, is_enabled),
         condition = coalesce($5, condition),
         watched_tenant_id = CASE WHEN $6 THEN $7::uuid ELSE watched_tenant_id END,
         format = coalesce($8, format), sealed_url = coalesce($9, sealed_url),
         url_preview = coalesce($10, url_preview), updated_at = now()
       WHERE ${ownedBy(owner)} AND id = $2
       RETURNING ${RECORD}`,
      [
        owner,
        id,
        name === undefined ? null : toStoredText(name),
        isEnabled ?? null,
        condition === undefined ? null : JSON.stringify(condition),
        watchedTenantId !== undefined,
        watchedTenantId ?? null,
        format ?? null,
        url === undefined ? null : this.box.encrypt(url, id),
        url === undefined ? null : previewUrl(url),
      ],
    );
    return rows[0] && toRule(rows[0]);
  }

  /** What waits to be told by it is dropped; what it told is kept. @returns whether there was such a rule */
  async delete(transaction: SqlExecutor, owner: AlertOwner, id: string): Promise<boolean> {
    const { rowCount } = await transaction.query(
      `DELETE FROM alert_rules WHERE ${ownedBy(owner)} AND id = $2`,
      [owner, id],
    );
    if (rowCount !== 1) return false;
    await forgetStates(transaction, id);
    await transaction.query(
      `UPDATE alert_events SET state = 'dropped', last_error = 'the rule was deleted', finished_at = now()
        WHERE rule_id = $1 AND state = 'pending'`,
      [id],
    );
    return true;
  }

  /** Where its messages go; undefined when nobody can read it any more. */
  async urlOf(id: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ encrypted: Buffer }>(
      'SELECT sealed_url AS encrypted FROM alert_rules WHERE id = $1',
      [id],
    );
    return rows[0] && this.decrypt(rows[0].encrypted, id);
  }

  /** Undefined when it was encrypted with another `GATEWAY_SECRET`. */
  decrypt(encryptedUrl: Buffer, ruleId: string): string | undefined {
    try {
      return this.box.decrypt(encryptedUrl, ruleId);
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }
}

/** A condition on the column `tenant_id`, with the owner as $1. */
export function ownedBy(owner: AlertOwner): string {
  return owner === null ? '(tenant_id IS NULL AND $1::uuid IS NULL)' : 'tenant_id = $1::uuid';
}

async function forgetStates(transaction: SqlExecutor, ruleId: string): Promise<void> {
  await transaction.query(
    'UPDATE alert_events SET is_open = false WHERE rule_id = $1 AND is_open',
    [ruleId],
  );
}

function toRule(row: AlertRule): AlertRule {
  return { ...row, name: fromStoredText(row.name) };
}
