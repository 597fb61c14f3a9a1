import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { AlertDetail, AlertKind } from './alert.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A rule that fired or resolved, with the state of its delivery. */
@Entity('alert_events')
export class AlertEventEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid')
  ruleId!: string;

  @Column('uuid', { nullable: true })
  tenantId!: string | null;

  @Column('text', { transformer: storedText })
  ruleName!: string;

  @Column('text')
  kind!: AlertKind;

  @Column('text')
  status!: 'firing' | 'resolved';

  @Column('text')
  subject!: string;

  @Column('text')
  threshold!: string;

  @Column('text')
  period!: string;

  @Column('boolean')
  isOpen!: boolean;

  @Column('jsonb')
  detail!: AlertDetail;

  @Column({ type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column('text')
  state!: 'pending' | 'delivered' | 'dropped';

  @Column('integer', { default: 0 })
  attempts!: number;

  @Column('timestamptz', { default: () => 'now()' })
  nextAttemptAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  wokenAt!: Date;

  @Column('text', { nullable: true })
  lastError!: string | null;

  @Column('timestamptz', { nullable: true })
  finishedAt!: Date | null;
}
