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

/** How far alert evaluation has read the request log; a single row. */
@Entity('alert_progress')
export class AlertProgressEntity {
  @PrimaryColumn('boolean', { default: true })
  isOnly!: boolean;

  @Column('timestamptz', { default: () => "'1970-01-01 00:00:00+00'" })
  lookedAt!: Date;

  @Column('timestamptz', { default: () => "'1970-01-01 00:00:00+00'" })
  countedAt!: Date;

  @Column('bigint', { default: 0 })
  countedId!: number;
}
