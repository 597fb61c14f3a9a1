import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A response generated in the background that has not finished. */
@Entity('background_responses')
export class BackgroundResponseEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  requestId!: string;

  @Column('text', { default: 'queued' })
  status!: 'queued' | 'in_progress';

  @Column('text')
  response!: string;

  @Column('text')
  body!: string;

  @Column('text')
  context!: string;

  @Column('text')
  caller!: string;

  @Column('text')
  headers!: string;

  @Column('boolean')
  flagged!: boolean;

  @Column('bigint')
  reservedCredits!: number;

  @Column('integer', { default: 0 })
  attempts!: number;

  @Column('boolean', { default: false })
  cancelRequested!: boolean;

  @Column('timestamptz', { default: () => 'now()' })
  runAt!: Date;

  @Column('uuid', { nullable: true })
  leaseId!: string | null;

  @Column('timestamptz', { nullable: true })
  leaseUntil!: Date | null;

  @Column('timestamptz')
  createdAt!: Date;
}
