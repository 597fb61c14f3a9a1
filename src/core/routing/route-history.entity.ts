import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Outcomes and speed of a route in one period. */
@Entity('route_history')
export class RouteHistoryEntity {
  @PrimaryColumn('timestamptz')
  period!: Date;

  @PrimaryColumn('text')
  provider!: string;

  @PrimaryColumn('text')
  model!: string;

  @Column('bigint')
  answered!: number;

  @Column('bigint')
  failed!: number;

  @Column('bigint')
  latencyMs!: number;

  @Column('bigint', { default: 0 })
  promptTokens!: number;

  @Column('bigint', { default: 0 })
  cachedTokens!: number;

  @Column('bigint', { default: 0 })
  outputTokens!: number;

  @Column('bigint', { default: 0 })
  outputMs!: number;
}
