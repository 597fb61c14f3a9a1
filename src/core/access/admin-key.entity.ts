import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { OperatorRole } from './roles.js';
import { storedText } from '../../platform/database/stored-text.js';

/** An operator's key. Of the key itself, only its SHA-256 and a preview are stored. */
@Entity('admin_keys')
export class AdminKeyEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('bytea')
  keyHash!: Buffer;

  @Column('text')
  keyPreview!: string;

  @Column('text')
  role!: OperatorRole;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  lastUsedAt!: Date | null;
}
