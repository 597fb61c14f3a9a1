import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LimitScope } from '../../canonical/limits.js';
import { storedText } from '../../platform/database/stored-text.js';

/** Credits reserved for a running request. */
@Entity('holds')
export class HoldEntity {
  @PrimaryColumn('uuid')
  requestId!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('uuid', { nullable: true })
  instanceId!: string | null;

  @Column('bigint')
  amount!: number;

  @Column('uuid')
  apiKeyId!: string;

  @Column('text', { transformer: storedText })
  endpoint!: string;

  @Column('text', { transformer: storedText })
  model!: string;

  @Column('text', { transformer: storedText })
  provider!: string;

  @Column('boolean')
  streamed!: boolean;

  @Column('timestamptz')
  createdAt!: Date;
}

/** A hold that counts toward the monthly limit of a key. */
@Entity('key_holds')
export class KeyHoldEntity {
  @PrimaryColumn('uuid')
  apiKeyId!: string;

  @PrimaryColumn('uuid')
  requestId!: string;
}

/** A running request that counts toward a budget or a concurrency limit. */
@Entity('limit_holds')
export class LimitHoldEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @PrimaryColumn('text')
  scope!: LimitScope;

  @PrimaryColumn('text', { transformer: storedText })
  subject!: string;

  @PrimaryColumn('uuid')
  requestId!: string;

  @Column('timestamptz', { default: () => 'budget_clock()' })
  openedAt!: Date;
}
