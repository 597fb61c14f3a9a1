import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One Parquet file of archived log rows and the range it covers. */
@Entity('archived_request_logs')
export class ArchivedRequestLogEntity {
  @PrimaryColumn('text')
  key!: string;

  @Column('date')
  month!: string;

  @Column('integer')
  rows!: number;

  @Column('bigint')
  bytes!: number;

  @Column('uuid')
  firstTenantId!: string;

  @Column('uuid')
  firstRequestId!: string;

  @Column('uuid')
  lastTenantId!: string;

  @Column('uuid')
  lastRequestId!: string;

  @Column('timestamptz')
  firstCreatedAt!: Date;

  @Column('timestamptz')
  lastCreatedAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  archivedAt!: Date;
}
