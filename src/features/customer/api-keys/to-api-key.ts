import { KEY_RIGHTS, type KeyRight } from '../../../core/access/roles.js';
import { renewalOf } from '../../../canonical/limits.js';
import { apiKeyStatus, type ApiKeyEntity } from '../../../core/access/api-key.entity.js';
import type { KeySpendLimit } from '../../../core/ledger/balance.reader.js';
import type { BothLimitsDto, BudgetStateDto } from '../../../core/limits/limits.dto.js';
import type { ApiKeyDto } from './api-keys.dto.js';

/** Converts a monthly spend limit to a budget. */
export function toBudget({ limit, spent, held }: KeySpendLimit, now: Date): BudgetStateDto {
  return {
    period: 'month',
    credits: limit,
    spent,
    held,
    remaining: Math.max(0, limit - spent - held),
    renews_at: renewalOf('month', now)?.toISOString() ?? null,
  };
}

/**
 * @param monthlySpend null when the key has no monthly limit
 * @param withheld permissions that the key lacks
 */
export function toApiKey(
  key: ApiKeyEntity,
  { limits, operator_limits }: BothLimitsDto,
  monthlySpend: BudgetStateDto | null,
  withheld: readonly KeyRight[],
): ApiKeyDto {
  const status = apiKeyStatus(key, Date.now());
  return {
    id: key.id,
    name: key.name,
    type: key.type,
    parent_id: key.ancestorIds[0] ?? null,
    key_preview: key.keyPreview,
    expires_at: key.expiresAt?.toISOString() ?? null,
    is_active: status === 'active',
    status,
    usage: { request_count: key.requestCount, total_spend: key.totalSpend },
    monthly_spend_limit: key.monthlySpendLimit,
    monthly_spend: monthlySpend,
    limits,
    operator_limits,
    content_log: key.contentLog,
    rights: KEY_RIGHTS.filter((right) => !withheld.includes(right)),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt.toISOString(),
  };
}
