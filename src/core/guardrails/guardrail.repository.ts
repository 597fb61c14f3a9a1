import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { ResourceRepository } from '../resources/resource.repository.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { GuardrailDefinition } from './guardrail.js';
import { GuardrailEntity } from './guardrail.entity.js';
import type { GuardrailRule } from './guardrail-rule.js';

/** Tells whether rules must be compiled again. */
export interface GuardrailHead {
  id: string;
  tenantId: string;
  revision: number;
}

/** Tenants' guardrails in the database, with how often each has matched. */
@Injectable()
export class GuardrailRepository extends ResourceRepository<GuardrailEntity> {
  protected readonly kind = { noun: 'guardrail', plural: 'guardrails', type: 'guardrail' };

  constructor(
    @InjectRepository(GuardrailEntity) guardrails: Repository<GuardrailEntity>,
    database: Database,
    audit: AuditLog,
  ) {
    super(guardrails, database, audit);
  }

  /** Returns the stored length of a tenant's rules. */
  async rulesLength(transaction: SqlExecutor, tenantId: string): Promise<number> {
    const { rows } = await transaction.query<{ length: number }>(
      'SELECT coalesce(sum(length(rules)), 0)::integer AS length FROM guardrails WHERE tenant_id = $1',
      [tenantId],
    );
    return rows[0]!.length;
  }

  /** The guardrails of many tenants that are on, oldest first. */
  async findHeads(tenantIds: readonly string[]): Promise<GuardrailHead[]> {
    const { rows } = await this.database.lookUps.query<GuardrailHead>(
      `SELECT id, tenant_id AS "tenantId", revision FROM guardrails
        WHERE tenant_id = ANY($1) AND is_enabled ORDER BY created_at, id`,
      [tenantIds],
    );
    return rows;
  }

  async findDefinitions(ids: readonly string[]): Promise<GuardrailDefinition[]> {
    const { rows } = await this.database.lookUps.query<
      Omit<GuardrailDefinition, 'rules'> & { rules: string }
    >(
      `SELECT id, tenant_id AS "tenantId", revision, name, action, applies_to AS "appliesTo",
              rules, pattern_sizes AS "patternSizes"
         FROM guardrails WHERE id = ANY($1)`,
      [ids],
    );
    return rows.map((row) => ({
      ...row,
      name: fromStoredText(row.name),
      rules: JSON.parse(row.rules) as GuardrailRule[],
    }));
  }

  protected toAudited(row: GuardrailEntity): JsonObject {
    const { name, description, rules, action, appliesTo, isEnabled } = row;
    return { name, description, rules, action, applies_to: appliesTo, is_enabled: isEnabled };
  }
}
