import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../../platform/database/stored-text.js';

/** A conversation that callers created explicitly. */
@Entity('conversations')
export class ConversationEntity {
  @PrimaryColumn('text', { transformer: storedText })
  id!: string;

  @Column('uuid')
  tenantId!: string;

  /** JSON text. */
  @Column('text')
  metadata!: string;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  usedAt!: Date;
}
