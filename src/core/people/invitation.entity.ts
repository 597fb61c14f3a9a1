import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ActingRole } from '../access/roles.js';
import { storedText } from '../../platform/database/stored-text.js';

/** An invitation by email to a role at a tenant or among the operators. */
@Entity('invitations')
export class InvitationEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text', { transformer: storedText })
  email!: string;

  @Column('uuid', { nullable: true })
  tenantId!: string | null;

  @Column('text')
  role!: ActingRole;

  @Column('text', { transformer: storedText })
  invitedBy!: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  acceptedAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;
}
