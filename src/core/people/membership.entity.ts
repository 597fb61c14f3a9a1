import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../access/roles.js';

/** The role of a person at a tenant. */
@Entity('memberships')
export class MembershipEntity {
  @PrimaryColumn('uuid')
  personId!: string;

  @PrimaryColumn('uuid')
  tenantId!: string;

  @Column('text')
  role!: TenantRole;

  @Column('boolean', { default: false })
  byClaim!: boolean;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
