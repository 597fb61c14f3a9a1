import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { JobModality, JobStatus } from './job.js';
import { storedText } from '../../platform/database/stored-text.js';

/** An image, video or audio job and the state of its work. */
@Entity('jobs')
export class JobEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  apiKeyId!: string;

  @Column('uuid')
  requestId!: string;

  @Column('text')
  endpoint!: string;

  @Column('text')
  modality!: JobModality;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { default: 'queued' })
  status!: JobStatus;

  @Column('text')
  body!: string;

  @Column('text')
  routes!: string;

  @Column('text', { nullable: true })
  metadata!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  webhookUrl!: string | null;

  @Column('boolean')
  flagged!: boolean;

  @Column('text', { transformer: storedText, nullable: true })
  idempotencyKey!: string | null;

  @Column('bytea')
  bodyHash!: Buffer;

  @Column('text', { default: 'waiting' })
  step!: 'waiting' | 'submitting' | 'accepted';

  @Column('integer', { default: 0 })
  routeIndex!: number;

  @Column('integer', { default: 0 })
  round!: number;

  @Column('text', { transformer: storedText, nullable: true })
  provider!: string | null;

  @Column('text', { nullable: true })
  operation!: string | null;

  @Column('timestamptz', { nullable: true })
  acceptedAt!: Date | null;

  @Column('integer', { default: 0 })
  polls!: number;

  @Column('timestamptz', { default: () => 'now()' })
  runAt!: Date;

  @Column('uuid', { nullable: true })
  leaseId!: string | null;

  @Column('timestamptz', { nullable: true })
  leaseUntil!: Date | null;

  @Column('bigint')
  reservedCredits!: number;

  @Column('bigint', { default: 0 })
  actualCost!: number;

  @Column('text', { nullable: true })
  error!: string | null;

  @Column('text', { nullable: true })
  usage!: string | null;

  @Column('uuid', { nullable: true })
  endedBy!: string | null;

  @Column('boolean', { default: false })
  webhookDue!: boolean;

  @Column('boolean', { default: false })
  cancelDue!: boolean;

  @Column('integer', { default: 0 })
  cancelAttempts!: number;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  deadlineAt!: Date;

  @Column('timestamptz', { nullable: true })
  completedAt!: Date | null;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  fetchedAt!: Date | null;

  @Column('text', { nullable: true })
  trace!: string | null;

  @Column('text', { default: () => "'[]'" })
  attempts!: string;

  @Column('boolean', { default: false })
  traceDue!: boolean;

  @Column('timestamptz', { nullable: true })
  deletedAt!: Date | null;

  @Column('text', { transformer: storedText, nullable: true })
  endUser!: string | null;

  @Column('jsonb', { nullable: true })
  tags!: RequestTags | null;
}
