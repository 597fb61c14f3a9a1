import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Sums of log rows by the value of one facet. */
@Entity('request_log_facet_sums')
export class RequestLogFacetSumEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  facet!: string;

  @PrimaryColumn('text')
  grain!: string;

  @PrimaryColumn('timestamptz')
  period!: Date;

  @PrimaryColumn('uuid')
  valueId!: string;

  @Column('text', { nullable: true })
  value!: string | null;

  @Column('boolean')
  isRest!: boolean;

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
