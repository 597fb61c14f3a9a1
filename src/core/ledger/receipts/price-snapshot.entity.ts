import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Prices as they applied to a request, shared by all requests that used them. */
@Entity('price_sheets')
export class PriceSnapshotEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('jsonb')
  sheet!: unknown;

  @Column('timestamptz', { default: () => 'now()' })
  firstUsedAt!: Date;
}
