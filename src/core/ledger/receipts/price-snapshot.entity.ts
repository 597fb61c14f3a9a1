import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Prices that applied to requests, stored once for all of them. */
@Entity('price_sheets')
export class PriceSnapshotEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('jsonb')
  sheet!: unknown;

  @Column('timestamptz', { default: () => 'now()' })
  firstUsedAt!: Date;
}
