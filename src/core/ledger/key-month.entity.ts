import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Credits spent with a key in one calendar month (UTC). */
@Entity('key_months')
export class KeyMonthEntity {
  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @PrimaryColumn('date')
  month!: string;

  @Column('bigint')
  spent!: number;
}
