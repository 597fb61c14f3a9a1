import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TrafficMode } from '../../canonical/billable-route.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { UsageSource } from '../../canonical/usage.js';
import type { LoggedAttempt, RequestOutcome, RequestStatus } from './request-log-row.js';
import { storedText } from '../../platform/database/stored-text.js';

/** One finished request. Partitioned by month. */
@Entity('request_logs')
export class RequestLogEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('uuid')
  requestId!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  apiKeyId!: string;

  @Column('text', { transformer: storedText })
  endpoint!: string;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { transformer: storedText })
  provider!: string;

  @Column('text')
  status!: RequestStatus;

  @Column('text')
  outcome!: RequestOutcome;

  @Column('text', { transformer: storedText, nullable: true })
  errorType!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  finishReason!: string | null;

  @Column('text')
  trafficMode!: TrafficMode;

  @Column('integer')
  promptTokens!: number;

  @Column('integer')
  completionTokens!: number;

  @Column('integer')
  cacheReadTokens!: number;

  @Column('integer')
  cacheWriteTokens!: number;

  @Column('integer')
  reasoningTokens!: number;

  @Column('text')
  usageSource!: UsageSource;

  @Column('bigint')
  cost!: number;

  @Column('bigint')
  modelCharge!: number;

  @Column('bigint')
  byokPlatformFee!: number;

  @Column('bigint')
  managedToolFee!: number;

  @Column('bigint', { default: 0 })
  agentRuntimeFee!: number;

  @Column('bigint', { default: 0 })
  shortfall!: number;

  @Column('text', { transformer: storedText, nullable: true })
  billingNote!: string | null;

  @Column('boolean')
  streamed!: boolean;

  @Column('integer')
  latencyMs!: number;

  @Column('integer')
  generationTimeMs!: number;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('boolean', { default: false })
  flagged!: boolean;

  @Column('boolean', { default: false })
  replacesCrash!: boolean;

  @Column('integer', { nullable: true })
  firstTokenMs!: number | null;

  @Column('bigint', { nullable: true })
  vendorCost!: number | null;

  @Column('integer', { nullable: true })
  vendorStartedMs!: number | null;

  @Column('jsonb', { nullable: true })
  attempts!: LoggedAttempt[] | null;

  @Column('text', { transformer: storedText, nullable: true })
  endUser!: string | null;

  @Column('jsonb', { nullable: true })
  tags!: RequestTags | null;

  @Column('integer', { nullable: true })
  configVersion!: number | null;

  @Column('uuid', { nullable: true })
  priceSheet!: string | null;

  @Column('text', { nullable: true })
  otherUsage!: string | null;
}
