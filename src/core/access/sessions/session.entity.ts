import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { storedText } from '../../../platform/database/stored-text.js';

/** A login of a person or a key. Only the hash of its token is stored. */
@Entity('sessions')
export class SessionEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('bytea')
  tokenHash!: Buffer;

  @Column('uuid', { nullable: true })
  personId!: string | null;

  @Column('uuid', { nullable: true })
  apiKeyId!: string | null;

  @Column('uuid', { nullable: true })
  adminKeyId!: string | null;

  @Column('text', { transformer: storedText, nullable: true })
  userAgent!: string | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  lastSeenAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;
}
