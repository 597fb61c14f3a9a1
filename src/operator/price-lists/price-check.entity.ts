import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last comparison with published price lists; a single row. */
@Entity('price_checks')
export class PriceCheckEntity {
  @PrimaryColumn('boolean', { default: true })
  isOnly!: boolean;

  @Column('timestamptz', { default: () => "'-infinity'" })
  begunAt!: Date;

  @Column('timestamptz', { default: () => "'-infinity'" })
  checkedAt!: Date;

  @Column('text', { default: '' })
  subject!: string;

  @Column('jsonb', { default: () => "'{}'" })
  findings!: unknown;
}
