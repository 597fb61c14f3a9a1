import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { storedText } from '../common/database/stored-text.js';

/** A customer: owns keys, credits and logs. */
@Entity('tenants')
@Unique('tenants_name_key', ['name'])
export class TenantEntity {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'tenants_pkey' })
  id!: string;

  @Column('text', { transformer: storedText })
  name!: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
