import type { KeyRight } from '../people/roles.js';
import {
  Check,
  Column,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';
import type { ApiKeyType, Maker } from './caller.js';
import type { KeyBounds } from './key-rights.js';
import { TenantEntity } from './tenant.entity.js';

export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;

/** An API key. Of the key itself only a SHA-256 and a preview are kept. */
@Entity('api_keys')
@Unique('api_keys_key_hash_key', ['keyHash'])
@Check('api_keys_type_check', `type IN ('routing', 'management')`)
@Check('api_keys_rate_limit_per_minute_check', `rate_limit_per_minute > 0`)
@Check('api_keys_monthly_spend_limit_check', `monthly_spend_limit >= 0`)
@Check('api_keys_made_by_check', `made_by IN ('operator', 'management', 'routing')`)
@Index('api_keys_tenant_id_created_at_idx', ['tenantId', 'createdAt', 'id'])
export class ApiKeyEntity implements KeyBounds {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' })
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  tenantId!: string;

  /** Declares the foreign key; never loaded. */
  @ManyToOne(() => TenantEntity, { nullable: false })
  @JoinColumn({ name: 'tenant_id', foreignKeyConstraintName: 'api_keys_tenant_id_fkey' })
  tenant?: TenantEntity;

  @Column('text')
  type!: ApiKeyType;

  @Column('text', { name: 'made_by', default: 'management' })
  madeBy!: Maker;

  /** The key that made this one, the one that made that, and so on; empty unless routing keys did. */
  @Column('uuid', { name: 'ancestor_ids', array: true, default: () => `'{}'` })
  ancestorIds!: string[];

  @Column('text', { name: 'withheld_rights', array: true, default: () => `'{}'` })
  withheldRights!: KeyRight[];

  @Column('uuid', { name: 'bound_by_person_id', nullable: true })
  boundByPersonId!: string | null;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('bytea', { name: 'key_hash', select: false })
  keyHash!: Buffer;

  @Column('text', { name: 'key_preview' })
  keyPreview!: string;

  @Column('integer', { name: 'rate_limit_per_minute' })
  rateLimitPerMinute!: number;

  /** Credits in a calendar month (UTC); null: no limit. */
  @Column('bigint', { name: 'monthly_spend_limit', nullable: true })
  monthlySpendLimit!: number | null;

  /** Those that its tenant has set … */
  @Column('jsonb', { nullable: true })
  limits!: Limits | null;

  /** … and the operator; both hold. */
  @Column('jsonb', { name: 'operator_limits', nullable: true })
  operatorLimits!: Limits | null;

  /** Whether what is said in its requests is kept; null: as those above it or its tenant decide. */
  @Column('boolean', { name: 'content_log', nullable: true })
  contentLog!: boolean | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @Column('bigint', { name: 'request_count', default: 0 })
  requestCount!: number;

  /** Credits. */
  @Column('bigint', { name: 'total_spend', default: 0 })
  totalSpend!: number;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}

export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

/** What a key is good for at a moment. Revocation is final, so it is named before expiry. */
export function apiKeyStatus(
  key: { expiresAt: Date | null; revokedAt: Date | null },
  nowMs: number,
): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt.getTime() <= nowMs) return 'expired';
  return 'active';
}

/**
 * A key as it may be used: with the earliest end and the lowest limits of its own and of the keys
 * above it.
 */
export function boundBy(key: ApiKeyEntity, above: readonly ApiKeyEntity[]): ApiKeyEntity {
  const chain = [key, ...above];
  return Object.assign(new ApiKeyEntity(), key, {
    expiresAt: earliest(chain.map(({ expiresAt }) => expiresAt)),
    revokedAt: key.revokedAt ?? earliest(above.map(({ revokedAt }) => revokedAt)),
    rateLimitPerMinute: Math.min(...chain.map(({ rateLimitPerMinute }) => rateLimitPerMinute)),
    monthlySpendLimit: lowest(chain.map(({ monthlySpendLimit }) => monthlySpendLimit)),
  });
}

/** Null: none of them. */
function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

function earliest(times: readonly (Date | null)[]): Date | null {
  const time = lowest(times.map((each) => each?.getTime() ?? null));
  return time === null ? null : new Date(time);
}
