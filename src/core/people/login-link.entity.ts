import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A single-use link that logs an operator in. Only its hash is stored. */
@Entity('login_links')
export class LoginLinkEntity {
  @PrimaryColumn('bytea')
  tokenHash!: Buffer;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  usedAt!: Date | null;
}
