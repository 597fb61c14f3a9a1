import { Column, Entity, PrimaryColumn } from 'typeorm';

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
