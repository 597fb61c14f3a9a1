import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tenant's balance and lifetime totals, in credits. */
@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @Column('bigint', { default: 0 })
  balance!: number;

  @Column('bigint', { default: 0 })
  held!: number;

  @Column('bigint', { default: 0 })
  granted!: number;

  @Column('bigint', { default: 0 })
  spent!: number;

  @Column('bigint', { default: 0 })
  requestCount!: number;
}

/** Credits and requests of a tenant in one calendar month (UTC). */
@Entity('account_months')
export class AccountMonthEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('date')
  month!: string;

  @Column('bigint', { default: 0 })
  spent!: number;

  @Column('bigint', { default: 0 })
  requestCount!: number;
}

/** Credits spent with a key in one calendar month (UTC). */
@Entity('key_months')
export class KeyMonthEntity {
  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @PrimaryColumn('date')
  month!: string;

  @Column('bigint')
  spent!: number;
}
