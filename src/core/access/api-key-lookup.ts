import type { Recovery } from '../../canonical/routing-preferences.js';
import type { Limits } from '../../canonical/limits.js';
import type { SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import type { ApiKeyType, CountedKey } from './caller.js';
import { makerRoleOf, type StoredBounds } from './key-rights.js';

/** The fields of a key that requests need, with the expiry and spend limit of its whole chain. */
export interface ApiKeyLookup extends StoredBounds {
  hash: string;
  id: string;
  tenantId: string;
  type: ApiKeyType;
  name: string;
  /** The key's own limit. */
  rateLimitPerMinute: number;
  /** Ancestors, nearest first; null when there are none. */
  ancestors: AncestorLookup[] | null;
  /** Credits per month, lowest of the chain; null for no limit. */
  keySpendLimit: number | null;
  tenantSpendLimit: number | null;
  /** The key's own; `ancestors` has those of its ancestors. */
  limits: (Limits | null)[];
  tenantLimits: (Limits | null)[];
  /** Default for end users without limits of their own. */
  endUserLimits: Limits | null;
  hasEndUserLimits: boolean;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** True when its tenant is suspended. */
  isSuspended: boolean;
  /** As set by the key, else by its nearest ancestor, else by its tenant; null when none sets it. */
  contentLog: boolean | null;
  /** The tenant's setting; null when off or not set. */
  recovery: Exclude<Recovery, 'off'> | null;
}

/** An ancestor of a key. */
export interface AncestorLookup extends CountedKey, StoredBounds {
  limits: (Limits | null)[];
}

/** SQL that combines the bounds of the ancestors of `api_keys`. */
const ABOVE = `
  LEFT JOIN LATERAL (
    SELECT min(ancestor.expires_at) AS expires_at, min(ancestor.revoked_at) AS revoked_at,
           min(ancestor.monthly_spend_limit) AS monthly_spend_limit,
           (array_agg(content_log ORDER BY array_position(api_keys.ancestor_ids, id))
             FILTER (WHERE content_log IS NOT NULL))[1] AS content_log,
           json_agg(
             json_build_object('id', id, 'rateLimitPerMinute', rate_limit_per_minute,
               'limits', jsonb_build_array(limits, operator_limits),
               'withheldRights', withheld_rights, 'makerRole', ${makerRoleOf('ancestor')},
               'isBoundByPerson', bound_by_person_id IS NOT NULL)
             ORDER BY array_position(api_keys.ancestor_ids, id)
           ) AS ancestors
      FROM api_keys ancestor WHERE ancestor.id = ANY (api_keys.ancestor_ids)
  ) above ON api_keys.ancestor_ids <> '{}'`;

/** Reads many keys in one round trip by hash in hex; unknown hashes have no row. */
export async function lookUpApiKeys(
  executor: SqlExecutor,
  hashes: readonly string[],
): Promise<ApiKeyLookup[]> {
  const { rows } = await executor.query<ApiKeyLookup>(
    `SELECT encode(key_hash, 'hex') AS hash, api_keys.id, tenant_id AS "tenantId", type,
            api_keys.name,
            rate_limit_per_minute AS "rateLimitPerMinute", ancestors,
            least(api_keys.monthly_spend_limit, above.monthly_spend_limit) AS "keySpendLimit",
            tenants.monthly_spend_limit AS "tenantSpendLimit",
            tenants.suspended_at IS NOT NULL AS "isSuspended",
            jsonb_build_array(api_keys.limits, api_keys.operator_limits) AS limits,
            jsonb_build_array(tenants.limits, tenants.operator_limits) AS "tenantLimits",
            tenants.end_user_limits AS "endUserLimits",
            EXISTS (
              SELECT FROM end_user_limits WHERE end_user_limits.tenant_id = tenants.id
            ) AS "hasEndUserLimits",
            coalesce(api_keys.content_log, above.content_log, tenants.content_log) AS "contentLog",
            nullif(tenants.recovery, 'off') AS recovery,
            withheld_rights AS "withheldRights", ${makerRoleOf('api_keys')} AS "makerRole",
            bound_by_person_id IS NOT NULL AS "isBoundByPerson",
            least(api_keys.expires_at, above.expires_at) AS "expiresAt",
            coalesce(api_keys.revoked_at, above.revoked_at) AS "revokedAt"
       FROM api_keys JOIN tenants ON tenants.id = tenant_id ${ABOVE}
      WHERE key_hash = ANY($1::bytea[])`,
    [hashes.map((hash) => Buffer.from(hash, 'hex'))],
  );
  for (const row of rows) row.name = fromStoredText(row.name);
  return rows;
}
