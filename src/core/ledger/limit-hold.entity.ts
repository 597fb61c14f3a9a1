import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LimitScope } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A running request that counts toward a budget or a concurrency limit. */
@Entity('limit_holds')
export class LimitHoldEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  scope!: LimitScope;

  @PrimaryColumn('text', { transformer: storedText })
  subject!: string;

  @PrimaryColumn('uuid')
  requestId!: string;

  @Column('timestamptz', { default: () => 'budget_clock()' })
  openedAt!: Date;
}
