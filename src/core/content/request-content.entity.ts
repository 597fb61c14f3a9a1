import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The encrypted prompt and answer of a request. Partitioned by day. */
@Entity('request_contents')
export class RequestContentEntity {
  @PrimaryColumn('uuid')
  requestId!: string;

  @PrimaryColumn('date')
  day!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  contentKeyId!: string;

  @Column('timestamptz')
  recordedAt!: Date;

  @Column('bytea')
  body!: Buffer;

  @Column('bytea', { nullable: true })
  excerpts!: Buffer | null;
}
