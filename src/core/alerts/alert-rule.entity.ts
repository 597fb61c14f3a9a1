import { Column, Entity, PrimaryColumn, UpdateDateColumn, VirtualColumn } from 'typeorm';
import { ScopedEntity } from '../access/scope.js';
import type { Maker } from '../access/caller.js';
import type { AlertCondition, AlertFormat, AlertKind } from './alert.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A condition that sends a webhook when it becomes true. */
@Entity('alert_rules')
export class AlertRuleEntity extends ScopedEntity {
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

  /** The tenant to watch; null for every tenant or the whole service. */
  @Column('uuid', { nullable: true })
  watchedTenantId!: string | null;

  @Column('text')
  format!: AlertFormat;

  @Column('bytea')
  sealedUrl!: Buffer;

  /** The origin and the last characters; the rest may be a secret. */
  @Column('text')
  urlPreview!: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz', precision: 3 })
  updatedAt!: Date;

  /** True when its condition holds now. */
  @VirtualColumn('boolean', {
    query: (rule) =>
      `SELECT EXISTS (SELECT FROM alert_events WHERE rule_id = ${rule}.id AND is_open)`,
  })
  isFiring!: boolean;
}
