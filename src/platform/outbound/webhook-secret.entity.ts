import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The encrypted secret that signs a tenant's webhooks. */
@Entity('webhook_secrets')
export class WebhookSecretEntity {
  @PrimaryColumn('uuid')
  tenantId!: string;

  @Column('bytea')
  sealedSecret!: Buffer;

  @Column('bytea', { nullable: true })
  sealedPrevious!: Buffer | null;

  @Column('timestamptz', { nullable: true })
  previousUntil!: Date | null;
}
