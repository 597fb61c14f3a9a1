import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Requests, errors and cost of a tenant at a provider in one minute. */
@Entity('alert_minutes')
export class AlertMinuteEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('timestamptz')
  minute!: Date;

  @PrimaryColumn('text')
  provider!: string;

  @Column('bigint')
  requests!: number;

  @Column('bigint')
  errors!: number;

  @Column('bigint')
  cost!: number;
}
