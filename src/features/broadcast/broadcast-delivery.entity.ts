import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A batch of traces waiting for one destination. */
@Entity('broadcast_deliveries')
export class BroadcastDeliveryEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  destinationId!: string;

  @Column('integer')
  size!: number;

  @Column('integer')
  traceCount!: number;

  @Column('smallint', { default: 0 })
  attempts!: number;

  @Column('timestamptz', { default: () => 'now()' })
  nextAttemptAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('uuid')
  batchId!: string;
}
