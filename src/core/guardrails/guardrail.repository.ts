import { Injectable } from '@nestjs/common';
import type { Maker } from '../access/caller.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import type { GuardrailDefinition } from './guardrail.js';
import type { GuardrailAction, GuardrailDirection, GuardrailRule } from './guardrail-rule.js';

/** The part of a guardrail that its tenant chooses. */
export interface GuardrailDraft {
  name: string;
  description: string | null;
  rules: GuardrailRule[];
  /** Program sizes of the `regex` rules, in order. */
  patternSizes: number[];
  action: GuardrailAction;
  appliesTo: GuardrailDirection[];
  isEnabled: boolean;
}

export interface GuardrailRecord extends GuardrailDraft {
  id: string;
  madeBy: Maker;
  triggerCount: number;
  lastTriggeredAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Tells whether rules must be compiled again. */
export interface GuardrailHead {
  id: string;
  tenantId: string;
  revision: number;
}

type Stored<Row extends { rules: GuardrailRule[] }> = Omit<Row, 'rules'> & { rules: string };

const RECORD = `
  id, made_by AS "madeBy", name, description, rules, pattern_sizes AS "patternSizes", action,
  applies_to AS "appliesTo", is_enabled AS "isEnabled", trigger_count AS "triggerCount",
  last_triggered_at AS "lastTriggeredAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Stores tenants' guardrails and their match counts. */
@Injectable()
export class GuardrailRepository {
  constructor(private readonly database: Database) {}

  /** Returns guardrails newest first. */
  async listOfTenant(tenantId: string): Promise<GuardrailRecord[]> {
    const { rows } = await this.database.query<Stored<GuardrailRecord>>(
      `SELECT ${RECORD} FROM guardrails WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC`,
      [tenantId],
    );
    return rows.map(toRecord);
  }

  async findOfTenant(tenantId: string, id: string): Promise<GuardrailRecord | undefined> {
    return this.find(this.database, tenantId, id, '');
  }

  /** Returns a guardrail and locks it until the end of the transaction. */
  async lock(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
  ): Promise<GuardrailRecord | undefined> {
    return this.find(transaction, tenantId, id, 'FOR UPDATE');
  }

  /**
   * @returns undefined when the tenant already has `limit` guardrails
   */
  async insert(
    transaction: SqlExecutor,
    tenantId: string,
    draft: GuardrailDraft,
    madeBy: Maker,
    limit: number,
  ): Promise<GuardrailRecord | undefined> {
    const { rows } = await transaction.query<Stored<GuardrailRecord>>(
      `INSERT INTO guardrails
           (tenant_id, name, description, rules, pattern_sizes, action, applies_to, is_enabled,
            made_by)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
          WHERE (SELECT count(*) FROM guardrails WHERE tenant_id = $1) < $10
         RETURNING ${RECORD}`,
      [tenantId, ...columnsOf(draft), madeBy, limit],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Serializes a tenant's changes, or two could both take the last free slot. */
  async lockTenant(transaction: SqlExecutor, tenantId: string): Promise<void> {
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `guardrails/${tenantId}`,
    ]);
  }

  /** Returns the stored length of a tenant's rules. */
  async rulesLength(transaction: SqlExecutor, tenantId: string): Promise<number> {
    const { rows } = await transaction.query<{ length: number }>(
      'SELECT coalesce(sum(length(rules)), 0)::integer AS length FROM guardrails WHERE tenant_id = $1',
      [tenantId],
    );
    return rows[0]!.length;
  }

  /**
   * Updates the given fields only.
   *
   * @returns undefined when the tenant has no such guardrail
   */
  async update(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
    change: Partial<GuardrailDraft>,
  ): Promise<GuardrailRecord | undefined> {
    const { rows } = await transaction.query<Stored<GuardrailRecord>>(
      `UPDATE guardrails SET
         name = coalesce($3, name),
         description = CASE WHEN $10 THEN $4 ELSE description END,
         rules = coalesce($5, rules),
         pattern_sizes = coalesce($6, pattern_sizes),
         action = coalesce($7, action),
         applies_to = coalesce($8, applies_to),
         is_enabled = coalesce($9, is_enabled),
         revision = revision + 1,
         updated_at = now()
       WHERE tenant_id = $1 AND id = $2
       RETURNING ${RECORD}`,
      [tenantId, id, ...columnsOf(change), change.description !== undefined],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /**
   * @returns the deleted guardrail; undefined when the tenant has no such guardrail
   */
  async delete(
    transaction: SqlExecutor,
    tenantId: string,
    id: string,
  ): Promise<GuardrailRecord | undefined> {
    const { rows } = await transaction.query<Stored<GuardrailRecord>>(
      `DELETE FROM guardrails WHERE tenant_id = $1 AND id = $2 RETURNING ${RECORD}`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  private async find(
    executor: SqlExecutor,
    tenantId: string,
    id: string,
    lock: '' | 'FOR UPDATE',
  ): Promise<GuardrailRecord | undefined> {
    const { rows } = await executor.query<Stored<GuardrailRecord>>(
      `SELECT ${RECORD} FROM guardrails WHERE tenant_id = $1 AND id = $2 ${lock}`,
      [tenantId, id],
    );
    return rows[0] && toRecord(rows[0]);
  }

  /** Returns the enabled guardrails of many tenants, oldest first. */
  async findHeads(tenantIds: readonly string[]): Promise<GuardrailHead[]> {
    const { rows } = await this.database.lookUps.query<GuardrailHead>(
      `SELECT id, tenant_id AS "tenantId", revision FROM guardrails
        WHERE tenant_id = ANY($1) AND is_enabled ORDER BY created_at, id`,
      [tenantIds],
    );
    return rows;
  }

  async findDefinitions(ids: readonly string[]): Promise<GuardrailDefinition[]> {
    const { rows } = await this.database.lookUps.query<Stored<GuardrailDefinition>>(
      `SELECT id, tenant_id AS "tenantId", revision, name, action, applies_to AS "appliesTo",
              rules, pattern_sizes AS "patternSizes"
         FROM guardrails WHERE id = ANY($1)`,
      [ids],
    );
    return rows.map((row) => ({
      ...row,
      name: fromStoredText(row.name),
      rules: readRules(row.rules),
    }));
  }
}

function columnsOf(draft: Partial<GuardrailDraft>): unknown[] {
  const { name, description, rules, patternSizes, action, appliesTo, isEnabled } = draft;
  return [
    name === undefined ? null : toStoredText(name),
    description == null ? null : toStoredText(description),
    // JSON already escapes NUL and lone surrogates.
    rules === undefined ? null : JSON.stringify(rules),
    patternSizes ?? null,
    action ?? null,
    appliesTo ?? null,
    isEnabled ?? null,
  ];
}

function toRecord(row: Stored<GuardrailRecord>): GuardrailRecord {
  return {
    ...row,
    name: fromStoredText(row.name),
    description: row.description === null ? null : fromStoredText(row.description),
    rules: readRules(row.rules),
  };
}

/** Parses stored rules, which were validated before storing. */
function readRules(json: string): GuardrailRule[] {
  return JSON.parse(json) as GuardrailRule[];
}
