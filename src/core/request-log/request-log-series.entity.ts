import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestTags } from '../../canonical/request-tags.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A combination of dimensions and its totals of a month. */
@Entity('request_log_series')
export class RequestLogSeriesEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('timestamptz')
  month!: Date;

  @Column('text')
  kind!: 'none' | 'any' | 'each';

  @Column('uuid', { nullable: true })
  apiKeyId!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  endpoint!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  model!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  provider!: string | null;

  @Column('text', { nullable: true })
  status!: string | null;

  @Column('jsonb', { nullable: true })
  tags!: RequestTags | null;

  @Column('text', { transformer: storedText, nullable: true })
  endUser!: string | null;

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
