import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { SecretBox, DecryptionError } from '../../platform/crypto/secret-box.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { findHeaderProblem, isHeaderName } from '../../platform/outbound/destination.js';

/** Reason shown when headers were encrypted with another secret. */
export const HEADERS_UNREADABLE =
  'could not be sent to, because its headers can no longer be decrypted; set them again';

/** Placeholder for header values. Sent back, it keeps the stored value. */
export const MASK = '********';

/** Any run of asterisks counts as the placeholder. */
const MASKED = /^\*+$/;

const MAX_HEADERS = 20;

/** Characters of a header name shown in errors. */
const MAX_SHOWN = 128;

/** Set by the delivery, in addition to connection headers. */
const OWN = new Set(['content-type', 'idempotency-key']);

/** Encrypts destination headers, which contain tenants' collector credentials. */
@Injectable()
export class HeaderEncryption {
  private box: SecretBox | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {}

  encrypt(headers: Readonly<Record<string, string>>, destinationId: string): Buffer {
    return this.open().encrypt(JSON.stringify(headers), destinationId);
  }

  /** Returns undefined when they were encrypted with another `GATEWAY_SECRET`. */
  decrypt(encrypted: Buffer, destinationId: string): Record<string, string> | undefined {
    try {
      return JSON.parse(this.open().decrypt(encrypted, destinationId)) as Record<string, string>;
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }

  /** Opened on first use, since the secret may not exist before. */
  private open(): SecretBox {
    this.box ??= new SecretBox(() => gatewaySecrets(this.config), 'destination-headers');
    return this.box;
  }
}

/**
 * Parses a destination's headers with lower-case names.
 * @param before stored headers, for masked values
 * @throws InvalidRequestError naming the invalid header
 */
export function readDestinationHeaders(
  received: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const entries = Object.entries(received);
  if (entries.length > MAX_HEADERS) {
    throw new InvalidRequestError(
      'headers',
      `\`headers\` must hold at most ${MAX_HEADERS} headers.`,
    );
  }
  const headers = new Map<string, string>();
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    const shown = given.slice(0, MAX_SHOWN);
    if (!isHeaderName(given)) {
      throw new InvalidRequestError('headers', '`headers` contains an invalid header name.');
    }
    const param = `headers.${shown}`;
    if (typeof value !== 'string') {
      throw new InvalidRequestError(param, `The value of \`${shown}\` must be a string.`);
    }
    const kept = Object.hasOwn(before, name) ? before[name] : undefined;
    const isMasked = MASKED.test(value);
    if (isMasked && kept === undefined) {
      throw new InvalidRequestError(
        param,
        `\`${shown}\` has no stored value for \`${MASK}\`. Send the value itself.`,
      );
    }
    const meant = isMasked && kept !== undefined ? kept : value;
    const problem = OWN.has(name)
      ? 'is a header that the gateway sets itself'
      : findHeaderProblem(given, meant);
    if (problem !== undefined) throw new InvalidRequestError(param, `\`${shown}\` ${problem}.`);
    if (headers.has(name)) {
      throw new InvalidRequestError(param, `\`headers\` contains \`${shown}\` more than once.`);
    }
    headers.set(name, meant);
  }
  return Object.fromEntries(headers);
}

/** Returns the tenant's headers and those of the body. */
export function deliveryHeaders(
  own: Readonly<Record<string, string>>,
  idempotencyKey: string,
): Record<string, string> {
  return {
    'user-agent': 'model-gateway',
    ...own,
    'content-type': 'application/json',
    // The same for every attempt, so that receivers can detect duplicates.
    'idempotency-key': idempotencyKey,
  };
}
