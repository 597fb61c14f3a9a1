import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../../platform/database/stored-text.js';

/** An idempotency key of a ledger entry, with the answer it replays. */
@Entity('ledger_idempotency_keys')
export class LedgerIdempotencyKeyEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text', { transformer: storedText })
  idempotencyKey!: string;

  @Column('bytea')
  bodyHash!: Buffer;

  @Column('text', { default: '' })
  answer!: string;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
