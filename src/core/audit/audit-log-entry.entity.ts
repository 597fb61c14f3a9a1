import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ActorKind } from '../access/caller.js';
import { fromStoredText, storedText } from '../../platform/database/stored-text.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { withTexts } from './audit-log.js';

/** `AuditLog` writes the sides of a change. */
const SIDE = {
  to: (side: JsonObject | null) => side,
  from: (stored: JsonObject | null) => stored && withTexts(stored, fromStoredText),
};

/** One change of an administered resource. Append-only. */
@Entity('audit_log')
export class AuditLogEntryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;

  @Column('text')
  actorKind!: ActorKind;

  @Column('text', { nullable: true, transformer: storedText })
  actorId!: string | null;

  @Column('text', { transformer: storedText })
  actorName!: string;

  @Column('uuid', { nullable: true })
  tenantId!: string | null;

  @Column('text', { transformer: storedText })
  action!: string;

  @Column('text', { transformer: storedText })
  targetType!: string;

  @Column('text', { transformer: storedText })
  targetId!: string;

  @Column('jsonb', { nullable: true, transformer: SIDE })
  before!: JsonObject | null;

  @Column('jsonb', { nullable: true, transformer: SIDE })
  after!: JsonObject | null;

  @Column('uuid', { nullable: true })
  requestId!: string | null;
}
