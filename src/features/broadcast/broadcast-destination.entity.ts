import { Column, Entity, PrimaryColumn, UpdateDateColumn, VirtualColumn } from 'typeorm';
import { ScopedEntity } from '../../core/access/scope.js';
import type { Maker } from '../../core/access/caller.js';
import { storedText } from '../../platform/database/stored-text.js';

/** An OTLP collector that receives the traces of a tenant. */
@Entity('broadcast_destinations')
export class BroadcastDestinationEntity extends ScopedEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('boolean')
  isEnabled!: boolean;

  @Column('text', { transformer: storedText })
  url!: string;

  @Column('bytea')
  sealedHeaders!: Buffer;

  /** 0 to 1: the share of traces that is sent, decided by trace id. */
  @Column('double precision')
  samplingRate!: number;

  @Column('boolean')
  includesContent!: boolean;

  /** Traces. */
  @Column('bigint', { default: 0 })
  deliveredCount!: number;

  @Column('bigint', { default: 0 })
  droppedCount!: number;

  @Column('timestamptz', { nullable: true })
  lastSuccessAt!: Date | null;

  @Column('text', { transformer: storedText, nullable: true })
  lastError!: string | null;

  @Column('timestamptz', { nullable: true })
  lastErrorAt!: Date | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt!: Date;

  @Column('text', { default: 'management' })
  madeBy!: Maker;

  /** Deliveries that wait, which are batches of traces. */
  @VirtualColumn('bigint', {
    query: (row) => `SELECT count(*) FROM broadcast_deliveries WHERE destination_id = ${row}.id`,
  })
  pendingCount!: number;
}
