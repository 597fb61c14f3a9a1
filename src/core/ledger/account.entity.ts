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
