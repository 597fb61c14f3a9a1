import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A response that later requests can refer to. */
@Entity('stored_responses')
export class StoredResponseEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  requestId!: string;

  @Column('text')
  conversationId!: string;

  @Column('text', { nullable: true })
  previousResponseId!: string | null;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text')
  status!: 'completed' | 'incomplete' | 'failed' | 'cancelled';

  @Column('text')
  inputItems!: string;

  @Column('text')
  outputItems!: string;

  @Column('text')
  response!: string;

  @Column('bigint')
  contextBytes!: number;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('text', { array: true, nullable: true })
  vendorItemIds!: string[] | null;
}
