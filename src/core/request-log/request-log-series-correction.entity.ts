import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestTags } from '../../canonical/request-tags.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A log row to add to the series, or to subtract from them. */
@Entity('request_log_series_corrections')
export class RequestLogSeriesCorrectionEntity {
  @Column('integer')
  sign!: number;

  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @Column('text', { transformer: storedText })
  endpoint!: string;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { transformer: storedText })
  provider!: string;

  @Column('text')
  status!: string;

  @Column('jsonb', { nullable: true })
  tags!: RequestTags | null;

  @Column('text', { transformer: storedText, nullable: true })
  endUser!: string | null;

  @Column('integer')
  promptTokens!: number;

  @Column('integer')
  completionTokens!: number;

  @Column('bigint')
  cost!: number;

  @Column('bigint')
  shortfall!: number;

  @Column('bigint', { nullable: true })
  vendorCost!: number | null;

  @Column('integer')
  latencyMs!: number;

  @PrimaryColumn('timestamptz')
  createdAt!: Date;
}
