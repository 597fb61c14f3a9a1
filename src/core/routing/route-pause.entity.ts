import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A provider or route that an operator paused. */
@Entity('route_pauses')
export class RoutePauseEntity {
  @PrimaryColumn('text', { transformer: storedText })
  provider!: string;

  @PrimaryColumn('text', { transformer: storedText })
  model!: string | null;

  @Column('text', { transformer: storedText })
  reason!: string;

  @Column('text', { transformer: storedText })
  pausedBy!: string;

  @Column('timestamptz', { default: () => 'now()' })
  pausedAt!: Date;

  @Column('timestamptz', { nullable: true })
  pausedUntil!: Date | null;
}
