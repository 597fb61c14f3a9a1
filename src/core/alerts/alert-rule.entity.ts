import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Maker } from '../access/caller.js';
import type { AlertCondition, AlertFormat, AlertKind } from './alert.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A condition that sends a webhook when it becomes true. */
@Entity('alert_rules')
export class AlertRuleEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { nullable: true })
  tenantId!: string | null;

  @Column('text')
  madeBy!: Maker;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('boolean')
  isEnabled!: boolean;

  @Column('text')
  kind!: AlertKind;

  @Column('jsonb')
  condition!: AlertCondition;

  @Column('uuid', { nullable: true })
  watchedTenantId!: string | null;

  @Column('text')
  format!: AlertFormat;

  @Column('bytea')
  sealedUrl!: Buffer;

  @Column('text')
  urlPreview!: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  updatedAt!: Date;
}
