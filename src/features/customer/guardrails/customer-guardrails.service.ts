import { Injectable } from '@nestjs/common';
import type { Author } from '../../../core/access/author.js';
import type { Caller } from '../../../core/access/caller.js';
import { Database, type SqlExecutor } from '../../../platform/database/database.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { GuardrailDirectory } from '../../../core/guardrails/guardrail-directory.service.js';
import {
  MAX_GUARDRAILS_PER_TENANT,
  MAX_STORED_RULES_PER_TENANT,
} from '../../../core/guardrails/guardrail-rule.js';
import { GuardrailTriggerLog } from '../../../core/guardrails/guardrail-trigger.log.js';
import { GuardrailRepository } from '../../../core/guardrails/guardrail.repository.js';
import type { GuardrailEntity } from '../../../core/guardrails/guardrail.entity.js';
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
import { toGuardrailRules, type GuardrailRuleDto } from './guardrail-rules.dto.js';

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
  ) {}

  async list({ tenantId }: Caller): Promise<GuardrailDto[]> {
    await this.triggers.drain();
    return (await this.guardrails.list(tenantId)).map(toGuardrail);
  }

  async get({ tenantId }: Caller, id: string): Promise<GuardrailDto> {
    await this.triggers.drain();
    return toGuardrail(await this.guardrails.find(tenantId, id));
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
    const made = await this.database.transaction(async (transaction) => {
      const values = { ...draft, tenantId, madeBy: keyType };
      const limit = MAX_GUARDRAILS_PER_TENANT;
      const row = await this.guardrails.insert(transaction, author, values, limit);
      await this.assertRoom(transaction, tenantId);
      return row;
    });
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
    await this.guardrails.findChangeable(caller, id);
    const { name, description, action, applies_to: appliesTo, is_enabled: isEnabled } = body;
    const rules = body.rules && (await this.readRules(tenantId, body.rules));
    const change = { name, description, ...rules, action, appliesTo, isEnabled };
    const changed = await this.database.transaction(async (transaction) => {
      if (rules) await this.guardrails.lockOwner(transaction, tenantId);
      const before = await this.guardrails.lock(transaction, tenantId, id);
      const after = await this.guardrails.update(transaction, author, before, change);
      if (rules) await this.assertRoom(transaction, tenantId);
      return after;
    });
    this.directory.forget(tenantId);
    return toGuardrail(changed);
  }

  async delete(caller: Caller, author: Author, id: string): Promise<DeletedGuardrailDto> {
    const row = await this.guardrails.findChangeable(caller, id);
    await this.database.transaction((transaction) =>
      this.guardrails.remove(transaction, author, row),
    );
    this.directory.forget(caller.tenantId);
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
      : (await this.guardrails.list(tenantId))
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

  /** @throws InvalidRequestError naming the field at fault, such as `rules.0.pattern` */
  private async readRules(
    tenantId: string,
    received: readonly GuardrailRuleDto[],
  ): Promise<Pick<GuardrailEntity, 'rules' | 'patternSizes'>> {
    const rules = toGuardrailRules(received);
    const gauged = await this.patterns.gauge(tenantId, rules);
    if ('sizes' in gauged) return { rules, patternSizes: gauged.sizes };
    const path = `rules.${gauged.ruleIndex}.pattern`;
    throw new InvalidRequestError(path, `\`${path}\` ${gauged.fault}`);
  }
}

/** Stands for unstored rules in a test. */
const NOT_STORED = { id: '', name: '', revision: 0 };

function toCreatedGuardrail(record: GuardrailEntity): CreatedGuardrailDto {
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

function toGuardrail(record: GuardrailEntity): GuardrailDto {
  return {
    ...toCreatedGuardrail(record),
    last_triggered_at: record.lastTriggeredAt?.toISOString() ?? null,
    updated_at: record.updatedAt.toISOString(),
  };
}
