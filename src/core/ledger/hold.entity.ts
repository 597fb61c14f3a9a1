import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** Credits reserved for a running request. */
@Entity('holds')
export class HoldEntity {
  @PrimaryColumn('uuid')
  requestId!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid', { nullable: true })
  instanceId!: string | null;

  @Column('bigint')
  amount!: number;

  @Column('uuid')
  apiKeyId!: string;

  @Column('text', { transformer: storedText })
  endpoint!: string;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { transformer: storedText })
  provider!: string;

  @Column('boolean')
  streamed!: boolean;

  @Column('timestamptz')
  createdAt!: Date;
}
