import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A log row to add to the roll-ups, or to subtract from them. */
@Entity('request_log_corrections')
export class RequestLogCorrectionEntity {
  @Column('integer')
  sign!: number;

  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { transformer: storedText })
  provider!: string;

  @Column('text')
  status!: string;

  @Column('integer')
  promptTokens!: number;

  @Column('integer')
  completionTokens!: number;

  @Column('bigint')
  cost!: number;

  @Column('integer')
  latencyMs!: number;

  @PrimaryColumn('timestamptz')
  createdAt!: Date;
}
