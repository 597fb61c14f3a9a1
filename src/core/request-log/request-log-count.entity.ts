import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** Log rows of an hour by key, status and model, for finding pages. */
@Entity('request_log_counts')
export class RequestLogCountEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('timestamptz')
  hour!: Date;

  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @PrimaryColumn('text')
  status!: string;

  @PrimaryColumn('text', { transformer: storedText })
  model!: string;

  @Column('bigint')
  requests!: number;

  @Column('timestamptz')
  firstCreatedAt!: Date;

  @Column('timestamptz')
  lastCreatedAt!: Date;
}
