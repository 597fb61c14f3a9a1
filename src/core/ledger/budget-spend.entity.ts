import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LimitScope } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';

/** Credits spent in the current periods of a budget. */
@Entity('budget_spend')
export class BudgetSpendEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  scope!: LimitScope;

  @PrimaryColumn('text', { transformer: storedText })
  subject!: string;

  @Column('timestamptz')
  countedAt!: Date;

  @Column('bigint')
  hour!: number;

  @Column('bigint')
  day!: number;

  @Column('bigint')
  week!: number;

  @Column('bigint')
  month!: number;

  @Column('bigint')
  total!: number;
}
