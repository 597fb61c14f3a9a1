import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How far the roll-ups have read the request log; a single row. */
@Entity('request_log_progress')
export class RequestLogProgressEntity {
  @PrimaryColumn('boolean', { default: true })
  isOnly!: boolean;

  @Column('bigint', { default: 0 })
  rolledUpId!: number;

  @Column('timestamptz', { default: () => "'1970-01-01 00:00:00+00'" })
  sweptBefore!: Date;

  @Column('bigint', { default: 0 })
  seriesId!: number;

  @Column('bigint', { default: 0 })
  facetId!: number;

  @Column('timestamptz', { default: () => "'-infinity'" })
  facetsFrom!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  facetsAgainAt!: Date;
}
