import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Sums of log rows by hour or day and one dimension. */
@Entity('request_log_roll_ups')
export class RequestLogRollUpEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  dimension!: string;

  @PrimaryColumn('text')
  grain!: string;

  @PrimaryColumn('timestamptz')
  period!: Date;

  @PrimaryColumn('text')
  value!: string;

  @Column('bigint')
  requests!: number;

  @Column('bigint')
  errors!: number;

  @Column('bigint')
  promptTokens!: number;

  @Column('bigint')
  completionTokens!: number;

  @Column('bigint')
  cost!: number;

  @Column('integer', { array: true })
  latencies!: number[];
}
