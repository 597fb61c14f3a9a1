import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The encrypted key of a provider account that the configuration names. */
@Entity('provider_keys')
export class ProviderKeyEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('bytea')
  sealedKey!: Buffer;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
