import { Column, Entity, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';
import type { KeyRight } from './roles.js';
import type { ApiKeyType, Maker } from './caller.js';
import type { KeyBounds } from './key-rights.js';

export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;

/** An API key of a tenant. Of the key itself, only its SHA-256 and a preview are stored. */
@Entity('api_keys')
export class ApiKeyEntity implements KeyBounds {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('text')
  type!: ApiKeyType;

  @Column('text', { default: 'management' })
  madeBy!: Maker;

  /** The key that created this one, that key's creator, and so on; empty unless routing keys did. */
  @Column('uuid', { array: true, default: () => `'{}'` })
  ancestorIds!: string[];

  @Column('text', { array: true, default: () => `'{}'` })
  withheldRights!: KeyRight[];

  @Column('uuid', { nullable: true })
  boundByPersonId!: string | null;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('bytea', { select: false })
  keyHash!: Buffer;

  @Column('text')
  keyPreview!: string;

  @Column('integer')
  rateLimitPerMinute!: number;

  /** Credits in a calendar month (UTC); null: no limit. */
  @Column('bigint', { nullable: true })
  monthlySpendLimit!: number | null;

  /** Set by the tenant; these and `operatorLimits` both apply. */
  @Column('jsonb', { nullable: true })
  limits!: Limits | null;

  /** Set by the operator. */
  @Column('jsonb', { nullable: true })
  operatorLimits!: Limits | null;

  /** True when prompts and answers are stored; null to inherit from the ancestors or the tenant. */
  @Column('boolean', { nullable: true })
  contentLog!: boolean | null;

  @Column('timestamptz', { nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  @Column('bigint', { default: 0 })
  requestCount!: number;

  /** Credits. */
  @Column('bigint', { default: 0 })
  totalSpend!: number;

  @Column('timestamptz', { nullable: true })
  lastUsedAt!: Date | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt!: Date;
}

export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

/** Returns a key's status at a time. Revocation is final, so it takes precedence over expiry. */
export function apiKeyStatus(
  key: { expiresAt: Date | null; revokedAt: Date | null },
  nowMs: number,
): ApiKeyStatus {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt.getTime() <= nowMs) return 'expired';
  return 'active';
}

/** Returns a key with the earliest expiry and lowest limits of its chain, as requests see it. */
export function boundBy(key: ApiKeyEntity, above: readonly ApiKeyEntity[]): ApiKeyEntity {
  const chain = [key, ...above];
  return Object.assign(new ApiKeyEntity(), key, {
    expiresAt: earliest(chain.map(({ expiresAt }) => expiresAt)),
    revokedAt: key.revokedAt ?? earliest(above.map(({ revokedAt }) => revokedAt)),
    rateLimitPerMinute: Math.min(...chain.map(({ rateLimitPerMinute }) => rateLimitPerMinute)),
    monthlySpendLimit: lowest(chain.map(({ monthlySpendLimit }) => monthlySpendLimit)),
  });
}

/** Returns the minimum of the values that are not null; null when all are. */
function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

function earliest(times: readonly (Date | null)[]): Date | null {
  const time = lowest(times.map((each) => each?.getTime() ?? null));
  return time === null ? null : new Date(time);
}
