import { Column, Entity, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';
import type { KeyRight } from './roles.js';
import type { ApiKeyType, Maker } from './caller.js';
import type { KeyBounds } from './key-rights.js';

export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;

/** An API key. Of the key itself only a SHA-256 and a preview are kept. */
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

  /** The key that made this one, the one that made that, and so on; empty unless routing keys did. */
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

  /** Those that its tenant has set … */
  @Column('jsonb', { nullable: true })
  limits!: Limits | null;

  /** … and the operator; both hold. */
  @Column('jsonb', { nullable: true })
  operatorLimits!: Limits | null;

  /** Whether what is said in its requests is kept; null: as those above it or its tenant decide. */
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
