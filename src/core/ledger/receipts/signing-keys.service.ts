import {
  createPrivateKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG } from '../../../platform/config/app-config.js';
import { gatewaySecrets } from '../../../platform/config/gateway-secret.js';
import {
  DecryptionError,
  SecretBox,
  secretFingerprint,
} from '../../../platform/crypto/secret-box.js';
import { Database, type SqlExecutor } from '../../../platform/database/database.js';
import type { Author } from '../../access/author.js';
import { AuditLog } from '../../audit/audit-log.js';

type SecretConfig = Parameters<typeof gatewaySecrets>[0];

/** Author of a rotation that replaces an unreadable key. */
const LOST_SECRET: Author = {
  actor: { kind: 'service', id: null, name: 'signing key that cannot be opened' },
  requestId: null,
};

/** A public key as `/.well-known/jwks.json` lists it (RFC 8037). */
export interface PublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

interface StoredKey {
  readonly id: string;
  readonly encryptedKey: Buffer;
}

/**
 * The Ed25519 key that signs this installation's receipts: one for all instances, created on first use.
 * The private key is encrypted with `GATEWAY_SECRET`; public keys stay listed forever, so that old
 * signatures can be verified.
 */
@Injectable()
export class SigningKeys {
  private readonly box: SecretBox;

  constructor(
    @Inject(APP_CONFIG) private readonly config: SecretConfig,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    this.box = new SecretBox(() => gatewaySecrets(config), 'signing-key');
  }

  /** Returns the payload as a compact JWS (RFC 7515) whose header names the key. */
  async sign(payload: object, type: string): Promise<string> {
    const { id, key } = await this.current();
    const header = { alg: 'EdDSA', typ: type, kid: id };
    const signed = `${toBase64Url(header)}.${toBase64Url(payload)}`;
    return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
  }

  /** Returns all keys ever used, newest first. Creates the first one, so that callers cache no empty list. */
  async publicKeys(): Promise<PublicKey[]> {
    const listed = await this.list();
    if (listed.length > 0) return listed;
    await this.create(this.database);
    return this.list();
  }

  /**
   * Creates a new key, which signs from now on, and deletes the previous private key.
   *
   * @returns the ids of both; the previous one is undefined for the first key
   */
  rotate(author: Author): Promise<{ id: string; previousId: string | undefined }> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `UPDATE signing_keys SET retired_at = now(), sealed_key = NULL
         WHERE retired_at IS NULL RETURNING id`,
      );
      await this.create(client);
      const { id } = (await this.find(client))!;
      const previousId = rows[0]?.id;
      await this.audit.record(client, author, {
        tenantId: null,
        action: 'signing_key.rotate',
        target: { type: 'signing_key', id },
        before: previousId === undefined ? null : { id: previousId },
        after: { id },
      });
      return { id, previousId };
    });
  }

  private async current(): Promise<{ id: string; key: KeyObject }> {
    let stored = await this.find(this.database);
    if (!stored) {
      await this.create(this.database);
      stored = await this.find(this.database);
    }
    try {
      return this.open(stored!);
    } catch (error) {
      if (!(error instanceof DecryptionError) || !(await this.hasSecretOfDatabase())) throw error;
      // The secret was lost (`secret rotate --lost`), and with it everything it encrypted.
      await this.rotate(LOST_SECRET);
      return this.open((await this.find(this.database))!);
    }
  }

  /** Returns false on an instance with an outdated secret, which must not replace the others' key. */
  private async hasSecretOfDatabase(): Promise<boolean> {
    const { rows } = await this.database.query<{ fingerprint: string | null }>(
      'SELECT secret_fingerprint AS fingerprint FROM installation',
    );
    const own = gatewaySecrets(this.config).map(secretFingerprint);
    return own.some((fingerprint) => fingerprint === rows[0]?.fingerprint);
  }

  private open({ id, encryptedKey }: StoredKey): { id: string; key: KeyObject } {
    const der = Buffer.from(this.box.decrypt(encryptedKey, id), 'base64');
    return { id, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) };
  }

  private async find(executor: SqlExecutor): Promise<StoredKey | undefined> {
    const { rows } = await executor.query<StoredKey>(
      `SELECT id, sealed_key AS "encryptedKey" FROM signing_keys WHERE retired_at IS NULL`,
    );
    return rows[0];
  }

  private async list(): Promise<PublicKey[]> {
    const { rows } = await this.database.query<{ id: string; x: string }>(
      `SELECT id, public_key AS x FROM signing_keys ORDER BY created_at DESC, id`,
    );
    return rows.map(({ id: kid, x }) => {
      return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
    });
  }

  /** Does nothing when another instance was first. */
  private async create(executor: SqlExecutor): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x }: JsonWebKey = publicKey.export({ format: 'jwk' });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const id = randomUUID();
    await executor.query(
      `INSERT INTO signing_keys (id, public_key, sealed_key) VALUES ($1, $2, $3)
       ON CONFLICT ((true)) WHERE retired_at IS NULL DO NOTHING`,
      [id, x, this.box.encrypt(der, id)],
    );
  }
}

function toBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
