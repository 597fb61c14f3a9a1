import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Sums of one series by hour or day. */
@Entity('request_log_series_sums')
export class RequestLogSeriesSumEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  kind!: string;

  @PrimaryColumn('text')
  grain!: string;

  @PrimaryColumn('timestamptz')
  period!: Date;

  @PrimaryColumn('uuid')
  series!: string;

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

  @Column('bigint')
  shortfall!: number;

  @Column('bigint')
  vendorCost!: number;

  @Column('bigint')
  latencyMs!: number;
}
