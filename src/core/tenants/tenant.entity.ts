import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Recovery } from '../../canonical/routing-preferences.js';
import type { Limits } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A customer: owns keys, credits and logs. */
@Entity('tenants')
export class TenantEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text', { transformer: storedText })
  name!: string;

  /** SHA-256 of the original name; null until the tenant is renamed. */
  @Column('bytea', { nullable: true, select: false })
  firstNameHash!: Buffer | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  /** Credits in a calendar month (UTC); null: no limit. */
  @Column('bigint', { nullable: true })
  monthlySpendLimit!: number | null;

  /** While set, keys may only read. */
  @Column('timestamptz', { nullable: true })
  suspendedAt!: Date | null;

  /** When its name, keys and stored data were deleted. */
  @Column('timestamptz', { nullable: true })
  deletedAt!: Date | null;

  /** When the last personal data in a deleted tenant's logs was erased. */
  @Column('timestamptz', { nullable: true })
  erasedAt!: Date | null;

  /** True when prompts and answers are stored; null for the service's setting. */
  @Column('boolean', { nullable: true })
  contentLog!: boolean | null;

  /** How interrupted streams are recovered unless a request says; null for not at all. */
  @Column('text', { nullable: true })
  recovery!: Recovery | null;

  /** Content of requests before this time is not stored. */
  @Column('timestamptz', { nullable: true })
  contentDeletedAt!: Date | null;

  /** Set by the tenant; these and `operatorLimits` both apply. */
  @Column('jsonb', { nullable: true })
  limits!: Limits | null;

  /** Set by the operator. */
  @Column('jsonb', { nullable: true })
  operatorLimits!: Limits | null;

  /** Default for end users without limits of their own. */
  @Column('jsonb', { nullable: true })
  endUserLimits!: Limits | null;
}
