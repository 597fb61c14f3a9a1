import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { storedText } from '../database/stored-text.js';

/** A webhook and the state of its delivery. */
@Entity('webhook_deliveries')
export class WebhookDeliveryEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('text', { transformer: storedText })
  url!: string;

  @Column('text')
  eventId!: string;

  @Column('text')
  body!: string;

  @Column('integer', { default: 0 })
  attempts!: number;

  @Column('timestamptz', { default: () => 'now()' })
  nextAttemptAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  wokenAt!: Date;

  @Column('text', { default: 'pending' })
  state!: 'pending' | 'delivered' | 'dropped';

  @Column('text', { nullable: true })
  lastError!: string | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  finishedAt!: Date | null;

  /** Null: the whole tenant. */
  @Column('uuid', { nullable: true })
  scopeKeyId!: string | null;
}
