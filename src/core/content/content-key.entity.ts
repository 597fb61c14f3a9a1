import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The key of a tenant's stored content of one day, encrypted. */
@Entity('content_keys')
export class ContentKeyEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('date')
  day!: string;

  @Column('bytea')
  sealedKey!: Buffer;
}
