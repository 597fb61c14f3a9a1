import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../core/access/api-key.repository.js';
import type { Author } from '../../core/access/author.js';
import type { Caller, Maker } from '../../core/access/caller.js';
import { refuseOutOfScope, scopeKeyOf, toScope } from '../../core/access/scope.js';
import { TenantsService } from '../../core/access/tenants.service.js';
import type {
  AlertCondition,
  AlertEvent,
  AlertKind,
  AlertMessage,
  AlertOwner,
  AlertRule,
} from '../../core/alerts/alert.js';
import { AlertEventRepository } from '../../core/alerts/alert-event.repository.js';
import { AlertRuleRepository } from '../../core/alerts/alert-rule.repository.js';
import { AlertSender } from '../../core/alerts/alert-sender.js';
import { describeAlert } from '../../core/alerts/render-alert.js';
import { AuditLog, type AuditChange } from '../../core/audit/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import {
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
} from '../../platform/errors/gateway-errors.js';
import { readCursor, toCursorPage } from '../../platform/http/cursor-page.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type {
  AlertDto,
  AlertEventDto,
  AlertEventPageDto,
  AlertEventQueryDto,
  AlertTestDto,
  CreateAlertDto,
  DeletedAlertDto,
  UpdateAlertDto,
} from './alerts.dto.js';
import { readAlertCondition } from './read-alert-condition.js';

/** Each rule is evaluated four times a minute. */
const MAX_OF_TENANT = 20;
const MAX_OF_OPERATOR = 100;
const NO_SUCH_BUDGET =
  'This condition matches no budget. Set `scope`, and for `tenant` or `api_key` an id that this alert can watch.';

/** A tenant's key or member, or, with null, an operator. */
export interface AlertsCaller {
  readonly caller: Caller | null;
  readonly author: Author;
}

/** Manages alert rules of a tenant or, shared by all of them, of operators. */
@Injectable()
export class AlertsService {
  /** Owners with a test in progress; one test at a time each. */
  private readonly testing = new Set<AlertOwner>();

  constructor(
    private readonly database: Database,
    private readonly rules: AlertRuleRepository,
    private readonly events: AlertEventRepository,
    private readonly sender: AlertSender,
    private readonly client: OutboundClient,
    private readonly tenants: TenantsService,
    private readonly keys: ApiKeyRepository,
    private readonly audit: AuditLog,
  ) {}

  async list(owner: AlertOwner): Promise<AlertDto[]> {
    return (await this.rules.list(owner)).map(toAlert);
  }

  async get(owner: AlertOwner, id: string): Promise<AlertDto> {
    return toAlert(await this.find(owner, id));
  }

  async create({ caller, author }: AlertsCaller, body: CreateAlertDto): Promise<AlertDto> {
    const owner = ownerOf(caller);
    const limit = owner === null ? MAX_OF_OPERATOR : MAX_OF_TENANT;
    const { name, kind, url, format = 'webhook', enabled: isEnabled = true } = body;
    const read = await this.readCondition(owner, kind, body.condition);
    // Checked first, since validation resolves host names.
    if ((await this.rules.count(owner)) >= limit) throw tooMany(limit);
    await this.client.assertDestinationUrl(url, 'url');
    const draft = { name, kind, url, format, isEnabled, ...read };
    return this.database.transaction(async (transaction) => {
      const madeBy: Maker = caller?.keyType ?? 'operator';
      const maker = { madeBy, scopeKeyId: caller && scopeKeyOf(caller) };
      const made = await this.rules.insert(transaction, owner, draft, maker, limit);
      if (!made) throw tooMany(limit);
      const change = changeOf(owner, 'create', made.id, { after: toAudited(made) });
      await this.audit.record(transaction, author, change);
      return toAlert(made);
    });
  }

  async update(
    { caller, author }: AlertsCaller,
    id: string,
    body: UpdateAlertDto,
  ): Promise<AlertDto> {
    const owner = ownerOf(caller);
    const known = await this.findChangeable(caller, id);
    const { name, url, format, enabled: isEnabled, condition } = body;
    const read = condition && (await this.readCondition(owner, known.kind, condition));
    if (url !== undefined) await this.client.assertDestinationUrl(url, 'url');
    return this.database.transaction(async (transaction) => {
      const before = (await this.rules.find(owner, id, transaction)) ?? notFound();
      const draft = { name, url, format, isEnabled, ...read };
      const after = (await this.rules.update(transaction, owner, id, draft)) ?? notFound();
      const change = changeOf(owner, 'update', id, {
        before: toAudited(before),
        // Different URLs can have the same preview.
        after: { ...toAudited(after), ...(url !== undefined && { url_replaced: true }) },
      });
      await this.audit.record(transaction, author, change);
      return toAlert(after);
    });
  }

  async delete({ caller, author }: AlertsCaller, id: string): Promise<DeletedAlertDto> {
    const owner = ownerOf(caller);
    const known = await this.findChangeable(caller, id);
    await this.database.transaction(async (transaction) => {
      if (!(await this.rules.delete(transaction, owner, id))) notFound();
      const change = changeOf(owner, 'delete', id, { before: toAudited(known) });
      await this.audit.record(transaction, author, change);
    });
    return { id, deleted: true };
  }

  /** Sends a sample message once, even for a disabled rule. */
  async test({ caller, author }: AlertsCaller, id: string): Promise<AlertTestDto> {
    const owner = ownerOf(caller);
    const rule = await this.find(owner, id);
    if (this.testing.has(owner)) {
      throw new RateLimitError('id', 'An alert test is in progress. Wait for its outcome.', 1);
    }
    this.testing.add(owner);
    try {
      const url = await this.rules.urlOf(id);
      const startedMs = performance.now();
      const outcome = await this.sender.post(testMessage(rule), {
        owner,
        format: rule.format,
        url,
      });
      const delivered = outcome.ok;
      const status = outcome.status ?? null;
      const change = changeOf(owner, 'test', id, { after: { delivered, status } });
      await this.audit.record(this.database, author, change);
      return {
        delivered,
        status,
        error: outcome.ok ? null : outcome.reason,
        duration_ms: Math.round(performance.now() - startedMs),
      };
    } finally {
      this.testing.delete(owner);
    }
  }

  async listEvents(
    owner: AlertOwner,
    { alert_id: ruleId, cursor, limit }: AlertEventQueryDto,
  ): Promise<AlertEventPageDto> {
    const [time, id] = readCursor(cursor, ['time', 'uuid']) ?? [];
    const before = time && id ? { createdAt: new Date(time), id } : undefined;
    const rows = await this.events.list(owner, { ruleId, before, limit: limit + 1 });
    return toCursorPage(rows, limit, (event) => [event.createdAt, event.id], toEvent);
  }

  private async find(owner: AlertOwner, id: string): Promise<AlertRule> {
    return (isUuid(id) && (await this.rules.find(owner, id))) || notFound();
  }

  private async findChangeable(caller: Caller | null, id: string): Promise<AlertRule> {
    const rule = await this.find(ownerOf(caller), id);
    if (caller) refuseOutOfScope(caller, rule, 'alert');
    return rule;
  }

  /** Returns the validated condition and its subject. */
  private async readCondition(
    owner: AlertOwner,
    kind: AlertKind,
    received: unknown,
  ): Promise<{ condition: AlertCondition; watchedTenantId: string | null }> {
    const condition = readAlertCondition(kind, received, { isOperator: owner === null });
    const { tenant_id: chosen } = condition;
    const isChosen = typeof chosen === 'string';
    if (isChosen && (await this.tenants.nameOf(chosen)) === undefined) {
      throw new InvalidRequestError('condition.tenant_id', 'There is no tenant with this id.');
    }
    const watchedTenantId = isChosen ? chosen : owner;
    if (typeof condition.scope_id === 'string' && !(await this.knows(condition, watchedTenantId))) {
      throw new InvalidRequestError('condition.scope_id', NO_SUCH_BUDGET);
    }
    return { condition, watchedTenantId };
  }

  /** Returns whether the condition can match a budget. End users exist once they are named. */
  private async knows({ scope, scope_id }: AlertCondition, tenantId: string | null) {
    const id = String(scope_id);
    if (scope === 'end_user') return true;
    if (!isUuid(id)) return false;
    if (scope === 'tenant') return id === (tenantId ?? id) && !!(await this.tenants.nameOf(id));
    // An operator alert about all tenants can watch any key.
    return scope === 'api_key' && (!tenantId || !!(await this.keys.findOfTenant(tenantId, id)));
  }
}

function ownerOf(caller: Caller | null): AlertOwner {
  return caller?.tenantId ?? null;
}

function notFound(): never {
  throw new NotFoundError('id', 'There is no alert with this id.');
}

function tooMany(limit: number): InvalidRequestError {
  return new InvalidRequestError(
    'alerts',
    `The limit of ${limit} alerts is reached. Delete one first.`,
  );
}

function changeOf(
  owner: AlertOwner,
  what: string,
  id: string,
  { before = null, after = null }: Partial<Pick<AuditChange, 'before' | 'after'>>,
): AuditChange {
  const target = { type: 'alert', id };
  return { tenantId: owner, action: `alert.${what}`, target, before, after };
}

function toAudited({
  name,
  isEnabled,
  kind,
  condition,
  format,
  urlPreview,
}: AlertRule): JsonObject {
  return { name, enabled: isEnabled, kind, condition, format, url_preview: urlPreview };
}

function testMessage({ id, name, kind }: AlertRule): AlertMessage {
  return {
    id: randomUUID(),
    ruleId: id,
    ruleName: name,
    kind,
    status: 'test',
    subject: '',
    threshold: '',
    period: '',
    detail: {},
    tenantName: null,
    createdAt: new Date(),
  };
}

function toAlert(rule: AlertRule): AlertDto {
  return {
    id: rule.id,
    name: rule.name,
    enabled: rule.isEnabled,
    kind: rule.kind,
    condition: rule.condition,
    format: rule.format,
    url_preview: rule.urlPreview,
    scope: toScope(rule.scopeKeyId),
    firing: rule.isFiring,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}

function toEvent(event: AlertEvent): AlertEventDto {
  return {
    id: event.id,
    alert_id: event.ruleId,
    name: event.ruleName,
    kind: event.kind,
    status: event.status,
    subject: event.subject,
    threshold: event.threshold,
    period: event.period,
    message: describeAlert(event),
    detail: event.detail,
    delivery: {
      state: event.state,
      attempts: event.attempts,
      error: event.lastError,
      finished_at: event.finishedAt?.toISOString() ?? null,
    },
    created_at: event.createdAt.toISOString(),
  };
}
