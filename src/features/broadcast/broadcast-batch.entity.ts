import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A compressed body that several deliveries share. */
@Entity('broadcast_batches')
export class BroadcastBatchEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('bytea')
  body!: Buffer;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
