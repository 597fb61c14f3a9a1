import { Column, Entity, PrimaryGeneratedColumn, UpdateDateColumn, VersionColumn } from 'typeorm';
import type { Maker } from '../access/caller.js';
import type { GuardrailAction, GuardrailDirection, GuardrailRule } from './guardrail-rule.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A tenant's rules on text, and how often they matched. */
@Entity('guardrails')
export class GuardrailEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('text', { transformer: storedText, nullable: true })
  description!: string | null;

  // JSON already escapes NUL and lone surrogates.
  @Column('text', { transformer: { to: JSON.stringify, from: JSON.parse } })
  rules!: GuardrailRule[];

  /** Program sizes of the `regex` rules, in their order. */
  @Column('integer', { array: true })
  patternSizes!: number[];

  @Column('text')
  action!: GuardrailAction;

  @Column('text', { array: true })
  appliesTo!: GuardrailDirection[];

  @Column('boolean')
  isEnabled!: boolean;

  @Column('bigint', { default: 0 })
  triggerCount!: number;

  @Column('timestamptz', { nullable: true })
  lastTriggeredAt!: Date | null;

  /** Tells instances to compile the rules again. */
  @VersionColumn({ default: 1 })
  revision!: number;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt!: Date;

  @Column('text', { default: 'management' })
  madeBy!: Maker;
}
