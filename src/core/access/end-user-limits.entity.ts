import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Limits } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';

/** Limits of one of a tenant's end users. */
@Entity('end_user_limits')
export class EndUserLimitsEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text', { transformer: storedText })
  endUser!: string;

  @Column('jsonb')
  limits!: Limits;

  @Column('timestamptz', { default: () => 'now()' })
  updatedAt!: Date;
}
