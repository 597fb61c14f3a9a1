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

  /** SHA-256 of the name under which it was made; null while it has that one. */
  @Column('bytea', { nullable: true, select: false })
  firstNameHash!: Buffer | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  /** Credits in a calendar month (UTC); null: no limit. */
  @Column('bigint', { nullable: true })
  monthlySpendLimit!: number | null;

  /** Since then its keys read and do nothing else; null: they do what they may. */
  @Column('timestamptz', { nullable: true })
  suspendedAt!: Date | null;

  /** Its name, its keys and what it stored are gone since then. */
  @Column('timestamptz', { nullable: true })
  deletedAt!: Date | null;

  /** When the last of a deleted tenant's log rows said no more of anybody. */
  @Column('timestamptz', { nullable: true })
  erasedAt!: Date | null;

  /** Whether what is said in its requests is kept; null: as the service's setting has it. */
  @Column('boolean', { nullable: true })
  contentLog!: boolean | null;

  /** Who goes on with answers that break off, where a request does not say; null: nobody. */
  @Column('text', { nullable: true })
  recovery!: Recovery | null;

  /** What was said before is not written down any more. */
  @Column('timestamptz', { nullable: true })
  contentDeletedAt!: Date | null;

  /** Those that the tenant has set for itself … */
  @Column('jsonb', { nullable: true })
  limits!: Limits | null;

  /** … and the operator for it; both hold. */
  @Column('jsonb', { nullable: true })
  operatorLimits!: Limits | null;

  /** Of each of its end users that has none of its own. */
  @Column('jsonb', { nullable: true })
  endUserLimits!: Limits | null;
}
