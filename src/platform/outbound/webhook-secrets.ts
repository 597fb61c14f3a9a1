import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SecretBox, DecryptionError, secretsOf, type SecretSource } from '../crypto/secret-box.js';
import { Database } from '../database/database.js';
import type { OutboundOutcome } from './outbound-client.js';

const SECRET_BYTES = 32;
const KEPT_AT_ONCE = 1_000;

/** Stands for the operator where tenants have their id. */
export const OPERATOR_ID = '00000000-0000-0000-0000-000000000000';

/** Nothing is sent for now; a rotation can fix it. */
export const SECRET_UNREADABLE: OutboundOutcome = {
  ok: false,
  retryable: true,
  status: undefined,
  reason: 'the webhook secret cannot be read',
};

interface StoredSecrets {
  encryptedSecret: Buffer;
  /** Null: there is none, or it has expired. */
  encryptedPrevious: Buffer | null;
}

/**
 * Stores the secrets that sign webhooks of tenants and of the operator, encrypted. A tenant's first secret is derived from the
 * service's and reveals nothing about others. After a rotation the new and the previous secret both sign for a day.
 */
@Injectable()
export class WebhookSecrets implements OnApplicationBootstrap {
  private readonly box: SecretBox;

  constructor(
    private readonly gatewaySecrets: SecretSource,
    private readonly database: Pick<Database, 'query'>,
  ) {
    this.box = new SecretBox(gatewaySecrets, 'webhook-secret');
  }

  /** Stores missing secrets while the service secret that they derive from is current. */
  async onApplicationBootstrap(): Promise<void> {
    for (;;) {
      const { rows } = await this.database.query<{ id: string }>(
        `SELECT id FROM tenants
          WHERE NOT EXISTS (SELECT FROM webhook_secrets WHERE tenant_id = tenants.id) LIMIT $1`,
        [KEPT_AT_ONCE],
      );
      if (rows.length > 0) await this.keep(rows.map(({ id }) => id));
      if (rows.length < KEPT_AT_ONCE) return;
    }
  }

  /**
   * Returns `whsec_` and 43 characters; the whole text is the key.
   *
   * @returns undefined when it was encrypted with a secret that is not configured
   */
  async secretOf(tenantId: string): Promise<string | undefined> {
    return this.decrypt((await this.read(tenantId)).encryptedSecret, tenantId);
  }

  /** Creates a new secret; the previous one keeps signing for a day. */
  async rotate(
    tenantId: string,
    executor: Pick<Database, 'query'> = this.database,
  ): Promise<{ secret: string; previousUntil: Date }> {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const { rows } = await executor.query<{ previousUntil: Date }>(
      `INSERT INTO webhook_secrets AS known
         (tenant_id, sealed_secret, sealed_previous, previous_until)
       VALUES ($1, $2, $3, now() + interval '1 day')
       ON CONFLICT (tenant_id) DO UPDATE SET
         sealed_secret = excluded.sealed_secret, sealed_previous = known.sealed_secret,
         previous_until = excluded.previous_until
       RETURNING previous_until AS "previousUntil"`,
      [
        tenantId,
        this.box.encrypt(secret, tenantId),
        this.box.encrypt(this.derive(tenantId), tenantId),
      ],
    );
    return { secret, previousUntil: rows[0]!.previousUntil };
  }

  /**
   * Returns the value of `X-Gateway-Signature` for a body sent now: a signature per valid secret, the previous one
   * first, since receivers still have it.
   *
   * @returns undefined when no secret can be read
   */
  async sign(tenantId: string, body: string, now = Date.now()): Promise<string | undefined> {
    const { encryptedPrevious, encryptedSecret } = await this.read(tenantId);
    const secrets = [encryptedPrevious, encryptedSecret].map(
      (encrypted) => encrypted && this.decrypt(encrypted, tenantId),
    );
    const readable = secrets.filter((secret) => typeof secret === 'string');
    if (readable.length === 0) return undefined;
    const time = Math.floor(now / 1000);
    const signatures = readable.map((secret) =>
      createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'),
    );
    return [`t=${time}`, ...signatures.map((signature) => `v1=${signature}`)].join(',');
  }

  /**
   * Returns the headers of a webhook sent now.
   *
   * @returns undefined when it cannot be signed
   */
  async headersFor(
    tenantId: string,
    deliveryId: string,
    body: string,
  ): Promise<Record<string, string> | undefined> {
    const signature = await this.sign(tenantId, body);
    if (signature === undefined) return undefined;
    return {
      'content-type': 'application/json',
      'idempotency-key': deliveryId,
      'x-gateway-delivery': deliveryId,
      'x-gateway-signature': signature,
    };
  }

  private async read(tenantId: string): Promise<StoredSecrets> {
    const stored = await this.find(tenantId);
    if (stored) return stored;
    await this.keep([tenantId]);
    return (await this.find(tenantId))!;
  }

  private async find(tenantId: string): Promise<StoredSecrets | undefined> {
    const { rows } = await this.database.query<StoredSecrets>(
      `SELECT sealed_secret AS "encryptedSecret",
              CASE WHEN previous_until > now() THEN sealed_previous END AS "encryptedPrevious"
         FROM webhook_secrets WHERE tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  }

  /** Stores the first secrets of tenants that have none. */
  private async keep(tenantIds: readonly string[]): Promise<void> {
    await this.database.query(
      `INSERT INTO webhook_secrets (tenant_id, sealed_secret)
       SELECT * FROM unnest($1::uuid[], $2::bytea[]) ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantIds, tenantIds.map((id) => this.box.encrypt(this.derive(id), id))],
    );
  }

  private decrypt(encrypted: Buffer, tenantId: string): string | undefined {
    try {
      return this.box.decrypt(encrypted, tenantId);
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }

  private derive(tenantId: string): string {
    const [current] = secretsOf(this.gatewaySecrets);
    const purpose = `model-gateway:webhook-signature:${tenantId}`;
    const secret = hkdfSync('sha256', current!, '', purpose, SECRET_BYTES);
    return `whsec_${Buffer.from(secret).toString('base64url')}`;
  }
}
