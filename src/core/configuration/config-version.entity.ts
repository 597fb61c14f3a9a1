import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ActorKind } from '../access/caller.js';
import { storedText } from '../../platform/database/stored-text.js';

/** An immutable version of the catalogue, the provider accounts and the settings. */
@Entity('config_versions')
export class ConfigVersionEntity {
  @PrimaryColumn('integer')
  number!: number;

  @Column('jsonb')
  document!: unknown;

  @Column('jsonb')
  catalogue!: unknown;

  @Column('text')
  fingerprint!: string;

  @Column('jsonb')
  diff!: unknown;

  @Column('text', { transformer: storedText, nullable: true })
  comment!: string | null;

  @Column('text')
  actorKind!: ActorKind;

  @Column('text', { nullable: true })
  actorId!: string | null;

  @Column('text', { transformer: storedText })
  actorName!: string;

  @Column('text')
  program!: string;

  @Column('text')
  builtIn!: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
