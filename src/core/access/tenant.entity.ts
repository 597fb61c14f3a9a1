import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A customer: owns keys, credits and logs. */
@Entity('tenants')
@Check('tenants_monthly_spend_limit_check', `monthly_spend_limit >= 0`)
@Unique('tenants_name_key', ['name'])
export class TenantEntity {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'tenants_pkey' })
  id!: string;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  /** Credits in a calendar month (UTC); null: no limit. */
  @Column('bigint', { name: 'monthly_spend_limit', nullable: true })
  monthlySpendLimit!: number | null;
}
