import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ScopedEntity } from '../access/scope.js';
import type { Maker } from '../access/caller.js';
import { storedText } from '../../platform/database/stored-text.js';

/** A tenant's own account with a provider (BYOK). Its key is encrypted. */
@Entity('provider_credentials')
export class ProviderCredentialEntity extends ScopedEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  tenantId!: string;

  @Column('text')
  provider!: string;

  @Column('text', { transformer: storedText, nullable: true })
  name!: string | null;

  @Column('bytea')
  sealedKey!: Buffer;

  @Column('text')
  keyPreview!: string;

  @Column('jsonb')
  settings!: Record<string, string>;

  @Column('boolean')
  allowSharedFallback!: boolean;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  lastUsedAt!: Date | null;

  @Column('text', { default: 'management' })
  madeBy!: Maker;

  /** The address that the key was stored for; null when variables, files or the tenant determine it. */
  @Column('text', { nullable: true })
  baseUrl!: string | null;

  @Column('integer', { nullable: true })
  weight!: number | null;

  @Column('integer', { nullable: true })
  requestsPerMinute!: number | null;

  @Column('integer', { nullable: true })
  tokensPerMinute!: number | null;
}
