import { Injectable } from '@nestjs/common';
import type { ApiKeyEntity } from '../../../core/access/api-key.entity.js';
import { ApiKeyRepository } from '../../../core/access/api-key.repository.js';
import { AuditedApiKeys } from '../../../core/tenants/audited-api-keys.js';
import type { Author } from '../../../core/access/author.js';
import { refuseChange, type ApiKeyType, type Caller } from '../../../core/access/caller.js';
import { BalanceReader } from '../../../core/ledger/balance.reader.js';
import type { LimitsDto } from '../../../core/limits/limits.dto.js';
import { LimitsService } from '../../../core/limits/limits.service.js';
import { refuseMore, toLimits } from '../../../core/limits/to-limits.js';
import type { Limits } from '../../../canonical/limits.js';
import { mayReadContent } from '../../../core/access/customer.decorator.js';
import { boundsFor, refuseRights, runsAccount } from '../../../core/access/key-rights.js';
import { ContentLog } from '../../../core/content/content-log.service.js';
import { KeyDirectory } from '../../../core/access/key-directory.service.js';
import { toApiKey, toBudget } from './to-api-key.js';
import { mintApiKey, readExpiry } from '../../../core/access/api-key.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../../../platform/config/setting-values.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import {
  InvalidRequestError,
  NotFoundError,
  PermissionError,
} from '../../../platform/errors/gateway-errors.js';
import type {
  UpdateApiKeyDto,
  CreateApiKeyDto,
  ApiKeyDto,
  CreatedApiKeyDto,
} from './api-keys.dto.js';

/** Maximum depth of keys created by routing keys. */
const MAX_ANCESTORS = 8;
/** Keys read and sent together in a list. */
const KEYS_A_PIECE = 200;

/** Manages a tenant's keys for one of its keys or members. No key can grant more than it has. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly changes: AuditedApiKeys,
    private readonly directory: KeyDirectory,
    private readonly limits: LimitsService,
    private readonly contentLog: ContentLog,
    private readonly balances: BalanceReader,
  ) {}

  /**
   * Yields the JSON of all keys, newest first, including revoked ones. A tenant can have any
   * number.
   */
  async *list(caller: Caller): AsyncGenerator<string> {
    let before = '{"data":[';
    let behind: string[] | undefined;
    do {
      const page = await this.apiKeys.pageOfTenant(caller.tenantId, KEYS_A_PIECE, behind);
      const last = page.length < KEYS_A_PIECE ? undefined : page.at(-1);
      behind = last && [last.place, last.key.id];
      const keys = page.map(({ key }) => key);
      const described = await this.describe(caller, keys);
      if (described.length === 0) break;
      yield before + described.map((key) => JSON.stringify(key)).join();
      before = ',';
    } while (behind);
    yield before === ',' ? ']}' : `${before}]}`;
  }

  async get(caller: Caller, id: string): Promise<ApiKeyDto> {
    const [described] = await this.describe(caller, [await this.find(caller, id)]);
    return described!;
  }

  async create(caller: Caller, author: Author, body: CreateApiKeyDto): Promise<CreatedApiKeyDto> {
    const type = body.type ?? 'routing';
    if (type === 'management' && !runsAccount(caller)) {
      throw new PermissionError(
        'Only management keys and owners can create management keys.',
        'type',
      );
    }
    const own = await this.ownKey(caller);
    const maker = caller.keyType === 'routing' ? own : undefined;
    const ancestorIds = maker ? [maker.id, ...maker.ancestorIds] : [];
    if (ancestorIds.length > MAX_ANCESTORS) {
      throw new PermissionError(
        `Keys can be nested at most ${MAX_ANCESTORS} levels deep. Create this key with one of its ancestors.`,
      );
    }
    const expiresAt = readExpiry(body.expires_at) ?? null;
    if (maker) refuseLater(maker, expiresAt);
    const plaintext = mintApiKey(type);
    const rateLimitPerMinute = rateLimitFor(caller, body.rate_limit_per_minute);
    const monthlySpendLimit = spendLimitFor(caller, body.monthly_spend_limit);
    const limits = limitsFor(caller, type, body.limits);
    const id = await this.changes.create(author, {
      tenantId: caller.tenantId,
      type,
      name: body.name,
      plaintext,
      rateLimitPerMinute,
      expiresAt,
      monthlySpendLimit,
      ...(limits && { limits }),
      madeBy: caller.keyType,
      ancestorIds,
      bounds: boundsFor(caller, author.actor.id, own),
    });
    if (id === undefined) throw new Error('a newly generated key already exists');
    const record = await this.get(caller, id);
    return { ...record, rate_limit_per_minute: rateLimitPerMinute, key: plaintext };
  }

  async update(
    caller: Caller,
    author: Author,
    id: string,
    body: UpdateApiKeyDto,
  ): Promise<ApiKeyDto> {
    const key = await this.find(caller, id);
    refuseOnManagementKey(caller, key.type, 'change');
    const { content_log: contentLog, rights } = body;
    if (rights !== undefined) refuseRights(caller, key, rights);
    const change = {
      bounds: rights && boundsFor(caller, author.actor.id, await this.ownKey(caller), rights),
      contentLog,
      name: body.name,
      expiresAt: readExpiry(body.expires_at),
      limits:
        body.limits === undefined ? undefined : (limitsFor(caller, key.type, body.limits) ?? null),
    };
    if (change.limits !== undefined) refuseLimitsBeyondRights(caller, key);
    await this.refuseBeyondRights(caller, key, change.expiresAt);
    if (contentLog !== undefined) this.refuseContentLog(caller, contentLog);
    if (Object.values(change).every((value) => value === undefined)) return this.get(caller, id);
    await this.changes.update(author, caller.tenantId, key.id, change);
    await this.forget(key);
    return this.get(caller, key.id);
  }

  /** Revokes a key. Idempotent. Keeps the row, since log rows refer to it. */
  async revoke(caller: Caller, author: Author, id: string): Promise<ApiKeyDto> {
    const key = await this.find(caller, id);
    refuseOnManagementKey(caller, key.type, 'revoke');
    refuseChange(caller, key.madeBy, 'key');
    if (caller.keyType === 'routing') await this.refuseOnAncestor(caller, key);
    await this.changes.revoke(author, key.id, caller.tenantId);
    await this.forget(key);
    return this.get(caller, key.id);
  }

  /**
   * No key can change its own expiry. A routing key can change other routing-created keys, except
   * its ancestors, and cannot extend them beyond its own expiry; keys that are not its descendants
   * cannot be extended at all.
   */
  private async refuseBeyondRights(
    caller: Caller,
    key: ApiKeyEntity,
    expiresAt: Date | null | undefined,
  ): Promise<void> {
    if (key.id === caller.apiKeyId) {
      if (expiresAt === undefined) return;
      throw new PermissionError(
        'A key cannot change its own expiry. Use a management key (sk-mgmt-…).',
        'expires_at',
      );
    }
    if (caller.keyType === 'management') return;
    refuseChange(caller, key.madeBy, 'key');
    const own = await this.refuseOnAncestor(caller, key);
    if (expiresAt === undefined) return;
    if (key.ancestorIds.includes(caller.apiKeyId)) return refuseLater(own, expiresAt);
    if (key.expiresAt && (!expiresAt || expiresAt > key.expiresAt)) {
      throw new PermissionError(
        `A routing key cannot extend a key that it did not create beyond its own expiry, ${key.expiresAt.toISOString()}.`,
        'expires_at',
      );
    }
  }

  private async describe(
    { tenantId }: Caller,
    keys: readonly ApiKeyEntity[],
  ): Promise<ApiKeyDto[]> {
    const now = new Date();
    const ids = keys.filter((key) => key.monthlySpendLimit !== null).map(({ id }) => id);
    const [states, withheld, spendLimits] = await Promise.all([
      this.limits.describe(tenantId, 'api_key', keys),
      this.apiKeys.withheldFrom(keys.map(({ id }) => id)),
      ids.length === 0 ? [] : this.balances.spendLimitsOf(ids, now),
    ]);
    const byId = new Map(spendLimits.map((each) => [each.id, toBudget(each, now)]));
    return keys.map((key, index) =>
      toApiKey(key, states[index]!, byId.get(key.id) ?? null, withheld.get(key.id) ?? []),
    );
  }

  /** Only owners decide whether content is stored. */
  private refuseContentLog(caller: Caller, contentLog: boolean | null): void {
    if (!mayReadContent(caller)) {
      throw new PermissionError(
        'Content logging can be changed only by a management key or a member with the `content` permission.',
        'content_log',
      );
    }
    this.contentLog.refuseWhereOff(contentLog, 'content_log');
  }

  /** @returns the caller's key */
  private async refuseOnAncestor(caller: Caller, key: ApiKeyEntity): Promise<ApiKeyEntity> {
    const own = await this.find(caller, caller.apiKeyId);
    if (!own.ancestorIds.includes(key.id)) return own;
    throw new PermissionError(
      'A key cannot change or revoke its ancestors. Use a management key (sk-mgmt-…).',
    );
  }

  /** Applies at once on this instance, also to descendant keys. */
  private async forget(key: ApiKeyEntity): Promise<void> {
    const below = await this.apiKeys.idsBelow(key.tenantId, key.id);
    for (const id of [key.id, ...below]) this.directory.forget(id);
  }

  /** Returns the calling key; undefined for a person's session. */
  private async ownKey(caller: Caller): Promise<ApiKeyEntity | undefined> {
    return caller.actingRole === undefined ? this.find(caller, caller.apiKeyId) : undefined;
  }

  private async find(caller: Caller, id: string): Promise<ApiKeyEntity> {
    const key = isUuid(id) ? await this.apiKeys.findOfTenant(caller.tenantId, id) : null;
    if (!key) throw new NotFoundError('id', 'There is no API key with this id.');
    return key;
  }
}

function refuseOnManagementKey(caller: Caller, type: ApiKeyType, verb: string): void {
  if (type === 'management' && !runsAccount(caller)) {
    throw new PermissionError(`Only management keys and owners can ${verb} a management key.`);
  }
}

function rateLimitFor(caller: Caller, wanted: number | undefined): number {
  const own = caller.rateLimitPerMinute;
  if (wanted === undefined) return Math.min(DEFAULT_RATE_LIMIT_PER_MINUTE, own);
  if (wanted > own) {
    throw new PermissionError(
      `A key cannot create one with a higher limit than its own ${own} requests per minute.`,
      'rate_limit_per_minute',
    );
  }
  return wanted;
}

function spendLimitFor(caller: Caller, wanted: number | null | undefined): number | null {
  const own = caller.spendLimits?.key ?? null;
  if (own === null) return wanted ?? null;
  // Keys created by routing keys inherit the limits of their ancestors, including later changes.
  if (wanted === undefined) return caller.keyType === 'routing' ? null : own;
  if (wanted === null || wanted > own) {
    throw new PermissionError(
      `A key cannot create one with a higher limit than its own ${own} credits per month.`,
      'monthly_spend_limit',
    );
  }
  return wanted;
}

/** Null means no expiry of its own: the key expires with its parent. */
function refuseLater(above: ApiKeyEntity, expiresAt: Date | null): void {
  if (!expiresAt || !above.expiresAt || expiresAt <= above.expiresAt) return;
  throw new PermissionError(
    `A key cannot grant an expiry later than its own, ${above.expiresAt.toISOString()}.`,
    'expires_at',
  );
}

/** @returns undefined when no limits are given */
function limitsFor(
  { limits }: Caller,
  type: ApiKeyType,
  wanted: LimitsDto | null | undefined,
): Limits | undefined {
  const read = wanted == null ? null : toLimits(wanted);
  if (!read) return undefined;
  if (type === 'management') {
    throw new InvalidRequestError(
      'limits',
      'Management keys call no models, so they take no limits.',
    );
  }
  const own = limits?.subjects.filter(({ scope }) => scope === 'api_key') ?? [];
  refuseMore(read, own, 'limits.', "the calling key's own limit");
  return read;
}

/** A routing key sets limits only on its descendants. */
function refuseLimitsBeyondRights(caller: Caller, key: ApiKeyEntity): void {
  if (caller.keyType === 'management' || key.ancestorIds.includes(caller.apiKeyId)) return;
  throw new PermissionError(
    'A routing key can set limits only on keys that it created. Use a management key (sk-mgmt-…) for others.',
    'limits',
  );
}
