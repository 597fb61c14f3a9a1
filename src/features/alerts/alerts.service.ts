import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../core/access/api-key.repository.js';
import type { Author } from '../../core/access/author.js';
import type { Caller, Maker } from '../../core/access/caller.js';
import { scopeKeyOf, toScope } from '../../core/access/scope.js';
import { TenantsService } from '../../core/tenants/tenants.service.js';
import type {
  AlertCondition,
  AlertEvent,
  AlertKind,
  AlertMessage,
  AlertOwner,
} from '../../core/alerts/alert.js';
import { AlertEventRepository } from '../../core/alerts/alert-event.repository.js';
import type { AlertRuleEntity } from '../../core/alerts/alert-rule.entity.js';
import { AlertRuleRepository } from '../../core/alerts/alert-rule.repository.js';
import { AlertSender } from '../../core/alerts/alert-sender.js';
import { describeAlert } from '../../core/alerts/render-alert.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { InvalidRequestError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { readCursor, toCursorPage } from '../../platform/http/cursor-page.js';
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
import { readAlertCondition } from './alert-conditions.dto.js';

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
  ) {}

  async list(owner: AlertOwner): Promise<AlertDto[]> {
    return (await this.rules.list(owner)).map(toAlert);
  }

  async get(owner: AlertOwner, id: string): Promise<AlertDto> {
    return toAlert(await this.rules.find(owner, id));
  }

  async create({ caller, author }: AlertsCaller, body: CreateAlertDto): Promise<AlertDto> {
    const owner = ownerOf(caller);
    const limit = owner === null ? MAX_OF_OPERATOR : MAX_OF_TENANT;
    const { name, kind, url, format = 'webhook', enabled: isEnabled = true } = body;
    const read = await this.readCondition(owner, kind, body.condition);
    // Before the URL's host is resolved.
    await this.rules.assertQuota(owner, limit);
    await this.client.assertDestinationUrl(url, 'url');
    const id = randomUUID();
    const madeBy: Maker = caller?.keyType ?? 'operator';
    const values = {
      ...{ id, tenantId: owner, madeBy, scopeKeyId: caller && scopeKeyOf(caller) },
      ...{ name, kind, format, isEnabled, ...read, ...this.rules.encryptUrl(url, id) },
    };
    return this.database.transaction(async (transaction) =>
      toAlert(await this.rules.insert(transaction, author, values, limit)),
    );
  }

  async update(
    { caller, author }: AlertsCaller,
    id: string,
    body: UpdateAlertDto,
  ): Promise<AlertDto> {
    const owner = ownerOf(caller);
    const known = await this.rules.findChangeable(caller, id);
    const { name, url, format, enabled: isEnabled, condition } = body;
    const read = condition && (await this.readCondition(owner, known.kind, condition));
    if (url !== undefined) await this.client.assertDestinationUrl(url, 'url');
    const sealed = url !== undefined && this.rules.encryptUrl(url, id);
    const values = { name, format, isEnabled, ...read, ...sealed };
    return this.database.transaction(async (transaction) => {
      const before = await this.rules.lock(transaction, owner, id);
      return toAlert(await this.rules.update(transaction, author, before, values));
    });
  }

  async delete({ caller, author }: AlertsCaller, id: string): Promise<DeletedAlertDto> {
    const rule = await this.rules.findChangeable(caller, id);
    await this.database.transaction((transaction) => this.rules.remove(transaction, author, rule));
    return { id, deleted: true };
  }

  /** Sends a sample message once, even for a disabled rule. */
  async test({ caller, author }: AlertsCaller, id: string): Promise<AlertTestDto> {
    const owner = ownerOf(caller);
    const rule = await this.rules.find(owner, id);
    if (this.testing.has(owner)) {
      throw new RateLimitError('id', 'An alert test is in progress. Wait for its outcome.', 1);
    }
    this.testing.add(owner);
    try {
      const { format } = rule;
      const url = this.rules.decrypt(rule.sealedUrl, id);
      const startedMs = performance.now();
      const outcome = await this.sender.post(testMessage(rule), { owner, format, url });
      const delivered = outcome.ok;
      const status = outcome.status ?? null;
      await this.rules.record(this.database, author, 'test', rule, {
        after: { delivered, status },
      });
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

  /** Parses a condition. Returns it with the tenant that it watches; null for all. */
  private async readCondition(
    owner: AlertOwner,
    kind: AlertKind,
    received: unknown,
  ): Promise<{ condition: AlertCondition; watchedTenantId: string | null }> {
    const condition = readAlertCondition(kind, received, { isOperator: owner === null });
    const { tenant_id: chosen } = condition;
    const isChosen = typeof chosen === 'string';
    if (isChosen && (await this.tenants.nameOf(chosen)) === undefined) {
      throw new InvalidRequestError('condition.tenant_id', 'No tenant has this id.');
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

function testMessage({ id, name, kind }: AlertRuleEntity): AlertMessage {
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

function toAlert(rule: AlertRuleEntity): AlertDto {
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
