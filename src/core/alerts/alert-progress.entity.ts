import { Column, Entity, PrimaryColumn } from 'typeorm';

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
