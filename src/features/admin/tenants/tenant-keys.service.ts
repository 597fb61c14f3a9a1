import { Injectable } from '@nestjs/common';
import { apiKeyStatus, type ApiKeyEntity } from '../../../core/access/api-key.entity.js';
import { ApiKeyRepository, type ApiKeyChange } from '../../../core/access/api-key.repository.js';
import { AuditedApiKeys } from '../../../core/tenants/audited-api-keys.js';
import { mintApiKey } from '../../../core/access/api-key.js';
import type { Author } from '../../../core/access/author.js';
import { OPERATOR_BOUNDS } from '../../../core/access/key-rights.js';
import type { ApiKeyType } from '../../../core/access/caller.js';
import { KeyDirectory } from '../../../core/access/key-directory.service.js';
import { Database } from '../../../platform/database/database.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  readCursor,
  toCursorPage,
  type CursorPage,
  type CursorPageQueryDto,
} from '../../../platform/http/cursor-page.js';
import type { CreatedTenantKeyDto, TenantKeyDto } from './tenant-keys.dto.js';
import { TenantsAdmin } from './tenants.service.js';

export interface NewTenantKey {
  type: ApiKeyType;
  name: string;
  rateLimitPerMinute: number;
  expiresAt: Date | null;
  monthlySpendLimit: number | null;
}

/** Manages keys of any tenant, including limits. */
@Injectable()
export class TenantKeys {
  constructor(
    private readonly database: Database,
    private readonly tenants: TenantsAdmin,
    private readonly apiKeys: ApiKeyRepository,
    private readonly audited: AuditedApiKeys,
    private readonly directory: KeyDirectory,
  ) {}

  /** Lists keys, newest first. @throws NotFoundError (`tenant_id`) */
  async list(
    tenantId: string,
    { limit, cursor }: CursorPageQueryDto,
  ): Promise<CursorPage<TenantKeyDto>> {
    const { id } = await this.tenants.find(tenantId);
    const rows = await this.apiKeys.pageOfTenant(
      id,
      limit + 1,
      readCursor(cursor, ['time', 'uuid']),
    );
    return toCursorPage(
      rows,
      limit,
      ({ place, key }) => [place, key.id],
      ({ key }) => toTenantKey(key),
    );
  }

  /** @throws NotFoundError (`tenant_id`, `key_id`) */
  async get(tenantId: string, keyId: string): Promise<TenantKeyDto> {
    return toTenantKey(await this.find(tenantId, keyId));
  }

  /** @throws NotFoundError (`tenant_id`), also for a deleted tenant */
  async create(author: Author, tenantId: string, made: NewTenantKey): Promise<CreatedTenantKeyDto> {
    const plaintext = mintApiKey(made.type);
    const id = await this.database.transaction(async (client) => {
      await this.tenants.lock(client, tenantId);
      const draft = { ...made, tenantId, plaintext, bounds: OPERATOR_BOUNDS };
      const keyId = await this.audited.createWithin(client, author, draft);
      if (keyId === undefined) throw new Error('a newly generated key already exists');
      return keyId;
    });
    return { ...(await this.get(tenantId, id)), key: plaintext };
  }

  /** Updates the given fields. @throws NotFoundError (`tenant_id`, `key_id`) */
  async update(
    author: Author,
    tenantId: string,
    keyId: string,
    change: ApiKeyChange,
  ): Promise<TenantKeyDto> {
    const { id } = await this.find(tenantId, keyId);
    await this.database.transaction(async (client) => {
      await this.tenants.lock(client, tenantId);
      await this.audited.changeWithin(client, author, { id, action: 'api_key.update' }, () =>
        this.apiKeys.changeWithin(client, id, change),
      );
    });
    await this.forget(tenantId, id);
    return this.get(tenantId, id);
  }

  /** Revokes a key. Idempotent. @throws NotFoundError (`tenant_id`, `key_id`) */
  async revoke(author: Author, tenantId: string, keyId: string): Promise<TenantKeyDto> {
    const { id } = await this.find(tenantId, keyId);
    await this.audited.revoke(author, id, tenantId);
    await this.forget(tenantId, id);
    return this.get(tenantId, id);
  }

  /** Applies at once on this instance, also to descendant keys. */
  private async forget(tenantId: string, keyId: string): Promise<void> {
    for (const id of [keyId, ...(await this.apiKeys.idsBelow(tenantId, keyId))]) {
      this.directory.forget(id);
    }
  }

  private async find(tenantId: string, keyId: string): Promise<ApiKeyEntity> {
    const { id } = await this.tenants.find(tenantId);
    const key = isUuid(keyId) ? await this.apiKeys.findOfTenant(id, keyId) : null;
    if (key) return key;
    throw new NotFoundError('key_id', 'The tenant has no API key with this id.');
  }
}

function toTenantKey(key: ApiKeyEntity): TenantKeyDto {
  return {
    id: key.id,
    type: key.type,
    name: key.name,
    key_preview: key.keyPreview,
    status: apiKeyStatus(key, Date.now()),
    made_by: key.madeBy,
    rate_limit_per_minute: key.rateLimitPerMinute,
    monthly_spend_limit: key.monthlySpendLimit,
    request_count: key.requestCount,
    total_spend: key.totalSpend,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  };
}
