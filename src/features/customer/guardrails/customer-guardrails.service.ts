import { Injectable } from '@nestjs/common';
import type { Author } from '../../../core/access/author.js';
import { refuseChange, type Caller } from '../../../core/access/caller.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { Database, type SqlExecutor } from '../../../platform/database/database.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { InvalidRequestError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { GuardrailDirectory } from '../../../core/guardrails/guardrail-directory.service.js';
import {
  MAX_GUARDRAILS_PER_TENANT,
  MAX_STORED_RULES_PER_TENANT,
} from '../../../core/guardrails/guardrail-rule.js';
import { GuardrailTriggerLog } from '../../../core/guardrails/guardrail-trigger.log.js';
import {
  GuardrailRepository,
  type GuardrailDraft,
  type GuardrailRecord,
} from '../../../core/guardrails/guardrail.repository.js';
import type { GuardrailDefinition } from '../../../core/guardrails/guardrail.js';
import { GuardrailTrial, trialSignal } from '../../../core/guardrails/guardrail-trial.service.js';
import { PatternGauge } from '../../../core/guardrails/pattern-gauge.service.js';
import type {
  UpdateGuardrailDto,
  CreateGuardrailDto,
  CreatedGuardrailDto,
  DeletedGuardrailDto,
  GuardrailDto,
} from './guardrails.dto.js';
import type { GuardrailTestDto, TestGuardrailsDto } from './guardrail-test.dto.js';
import { readGuardrailRules } from './read-guardrail-rules.js';

/**
 * Manages a tenant's guardrails. Changes apply here at once and on other instances within a
 * second.
 */
@Injectable()
export class CustomerGuardrailsService {
  constructor(
    private readonly guardrails: GuardrailRepository,
    private readonly directory: GuardrailDirectory,
    private readonly triggers: GuardrailTriggerLog,
    private readonly patterns: PatternGauge,
    private readonly trial: GuardrailTrial,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  async list({ tenantId }: Caller): Promise<GuardrailDto[]> {
    await this.triggers.drain();
    return (await this.guardrails.listOfTenant(tenantId)).map(toGuardrail);
  }

  async get({ tenantId }: Caller, id: string): Promise<GuardrailDto> {
    await this.triggers.drain();
    return toGuardrail(await this.find(tenantId, id));
  }

  async create(
    { tenantId, keyType }: Caller,
    author: Author,
    body: CreateGuardrailDto,
  ): Promise<CreatedGuardrailDto> {
    const { name, description, action, applies_to: appliesTo, is_enabled: isEnabled } = body;
    const draft = {
      name,
      description: description ?? null,
      ...(await this.readRules(tenantId, body.rules)),
      action: action ?? 'block',
      appliesTo: appliesTo ?? ['input'],
      isEnabled: isEnabled ?? true,
    };
    const made = await this.database.transaction(async (client) => {
      const limit = MAX_GUARDRAILS_PER_TENANT;
      await this.guardrails.lockTenant(client, tenantId);
      const record = await this.guardrails.insert(client, tenantId, draft, keyType, limit);
      if (!record) return undefined;
      await this.assertRoom(client, tenantId);
      const change = { id: record.id, before: null, after: record };
      await this.record(client, author, tenantId, 'create', change);
      return record;
    });
    if (!made) {
      throw new InvalidRequestError(
        'guardrails',
        `The limit of ${MAX_GUARDRAILS_PER_TENANT} guardrails is reached. Delete one first.`,
      );
    }
    this.directory.forget(tenantId);
    return toCreatedGuardrail(made);
  }

  async update(
    caller: Caller,
    author: Author,
    id: string,
    body: UpdateGuardrailDto,
  ): Promise<GuardrailDto> {
    const { tenantId } = caller;
    await this.triggers.drain();
    refuseChange(caller, (await this.find(tenantId, id)).madeBy, 'guardrail');
    const { name, description, action, applies_to: appliesTo, is_enabled: isEnabled } = body;
    const rules = body.rules && (await this.readRules(tenantId, body.rules));
    const change = { name, description, ...rules, action, appliesTo, isEnabled };
    const changed = await this.database.transaction(async (client) => {
      if (rules) await this.guardrails.lockTenant(client, tenantId);
      const before = await this.guardrails.lock(client, tenantId, id);
      const after = before && (await this.guardrails.update(client, tenantId, id, change));
      if (!after) return undefined;
      if (rules) await this.assertRoom(client, tenantId);
      await this.record(client, author, tenantId, 'update', { id, before, after });
      return after;
    });
    this.directory.forget(tenantId);
    return toGuardrail(changed ?? notFound());
  }

  async delete(caller: Caller, author: Author, id: string): Promise<DeletedGuardrailDto> {
    const { tenantId } = caller;
    refuseChange(caller, (await this.find(tenantId, id)).madeBy, 'guardrail');
    await this.database.transaction(async (client) => {
      const before = (await this.guardrails.delete(client, tenantId, id)) ?? notFound();
      await this.record(client, author, tenantId, 'delete', { id, before, after: null });
    });
    this.directory.forget(tenantId);
    return { id, deleted: true };
  }

  /** Tests the tenant's guardrails, or unstored rules, on a text. */
  async test({ tenantId }: Caller, body: TestGuardrailsDto): Promise<GuardrailTestDto> {
    const { text, rules, action = 'block', direction = 'input' } = body;
    const definitions: GuardrailDefinition[] = rules
      ? [
          {
            ...NOT_STORED,
            ...(await this.readRules(tenantId, rules)),
            tenantId,
            action,
            appliesTo: [direction],
          },
        ]
      : (await this.guardrails.listOfTenant(tenantId))
          .filter(({ isEnabled, appliesTo }) => isEnabled && appliesTo.includes(direction))
          .map((record) => ({ ...record, tenantId, revision: 0 }));
    const matches: GuardrailTestDto['matches'] = [];
    const signal = trialSignal();
    for (const definition of definitions) {
      for (const tried of await this.trial.run(definition, text, signal)) {
        matches.push({
          guardrail_id: rules ? null : definition.id,
          guardrail_name: rules ? null : definition.name,
          action: definition.action,
          rule_index: tried.ruleIndex,
          rule_type: tried.type,
          is_finished: tried.isFinished,
          places: [...tried.places],
        });
      }
    }
    return {
      is_blocked: matches.some((match) => match.action === 'block'),
      is_flagged: matches.some((match) => match.action === 'flag' && match.is_finished),
      matches,
    };
  }

  /** @throws InvalidRequestError when the tenant's rules are too long in total */
  private async assertRoom(transaction: SqlExecutor, tenantId: string): Promise<void> {
    const length = await this.guardrails.rulesLength(transaction, tenantId);
    if (length <= MAX_STORED_RULES_PER_TENANT) return;
    throw new InvalidRequestError(
      'rules',
      `All rules of an account can have at most ${MAX_STORED_RULES_PER_TENANT} characters in total. This change would make it ${length}. Delete guardrails, or use fewer words.`,
    );
  }

  private record(
    transaction: SqlExecutor,
    author: Author,
    tenantId: string,
    verb: 'create' | 'update' | 'delete',
    {
      id,
      before,
      after,
    }: { id: string; before: GuardrailRecord | null; after: GuardrailRecord | null },
  ): Promise<void> {
    return this.audit.record(transaction, author, {
      tenantId,
      action: `guardrail.${verb}`,
      target: { type: 'guardrail', id },
      before: before && toAudited(before),
      after: after && toAudited(after),
    });
  }

  private async find(tenantId: string, id: string): Promise<GuardrailRecord> {
    const found = isUuid(id) && (await this.guardrails.findOfTenant(tenantId, id));
    return found || notFound();
  }

  /** @throws InvalidRequestError naming the invalid field, such as `rules.0.pattern` */
  private async readRules(
    tenantId: string,
    received: readonly unknown[],
  ): Promise<Pick<GuardrailDraft, 'rules' | 'patternSizes'>> {
    const rules = readGuardrailRules(received);
    const gauged = await this.patterns.gauge(tenantId, rules);
    if ('sizes' in gauged) return { rules, patternSizes: gauged.sizes };
    const path = `rules.${gauged.ruleIndex}.pattern`;
    throw new InvalidRequestError(path, `\`${path}\` ${gauged.fault}`);
  }
}

/** Stands for unstored rules in a test. */
const NOT_STORED = { id: '', name: '', revision: 0 };

function notFound(): never {
  throw new NotFoundError('id', 'There is no guardrail with this id.');
}

function toAudited(record: GuardrailRecord): JsonObject {
  return {
    name: record.name,
    description: record.description,
    rules: record.rules,
    action: record.action,
    applies_to: record.appliesTo,
    is_enabled: record.isEnabled,
  };
}

function toCreatedGuardrail(record: GuardrailRecord): CreatedGuardrailDto {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    rules: record.rules,
    action: record.action,
    applies_to: record.appliesTo,
    is_enabled: record.isEnabled,
    trigger_count: record.triggerCount,
    created_at: record.createdAt.toISOString(),
  };
}

function toGuardrail(record: GuardrailRecord): GuardrailDto {
  return {
    ...toCreatedGuardrail(record),
    last_triggered_at: record.lastTriggeredAt?.toISOString() ?? null,
    updated_at: record.updatedAt.toISOString(),
  };
}
