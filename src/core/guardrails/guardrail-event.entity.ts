import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { GuardrailAction, GuardrailDirection } from './guardrail-rule.js';

/** One request that matched a guardrail. */
@Entity('guardrail_events')
export class GuardrailEventEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid')
  guardrailId!: string;

  @Column('uuid')
  requestId!: string;

  @Column('text')
  action!: GuardrailAction;

  @Column('text')
  direction!: GuardrailDirection;

  @Column('timestamptz')
  createdAt!: Date;
}
