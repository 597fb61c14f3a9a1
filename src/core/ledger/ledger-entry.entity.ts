import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A movement of credits. Append-only; partitioned by month. */
@Entity('ledger_entries')
export class LedgerEntryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('uuid')
  tenantId!: string;

  @Column('text')
  kind!: 'grant' | 'correction' | 'charge' | 'shortfall' | 'refund';

  @Column('bigint')
  amount!: number;

  @Column('uuid', { nullable: true })
  requestId!: string | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('text', { transformer: storedText, nullable: true })
  memo!: string | null;
}
