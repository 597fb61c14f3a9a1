import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A key that signs receipts. Retired keys keep their public half. */
@Entity('signing_keys')
export class SigningKeyEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text')
  publicKey!: string;

  @Column('bytea', { nullable: true })
  sealedKey!: Buffer | null;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  retiredAt!: Date | null;
}
