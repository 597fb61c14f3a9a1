import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../../platform/database/stored-text.js';

/** One item of a conversation. */
@Entity('conversation_items')
export class ConversationItemEntity {
  @PrimaryColumn('text')
  conversationId!: string;

  @PrimaryColumn('text')
  batchId!: string;

  @PrimaryColumn('integer')
  position!: number;

  @Column({ type: 'bigint', insert: false, update: false })
  sequence!: number;

  @Column('text', { transformer: storedText })
  id!: string;

  @Column('text')
  item!: string;

  @Column('integer')
  bytes!: number;
}
