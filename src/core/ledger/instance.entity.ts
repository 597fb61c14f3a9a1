import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A running process and its last heartbeat. */
@Entity('instances')
export class InstanceEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('timestamptz', { default: () => 'now()' })
  startedAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  heartbeatAt!: Date;

  @Column('jsonb', { default: () => "'{}'" })
  facts!: unknown;

  @Column('jsonb', { default: () => "'{}'" })
  live!: unknown;
}
