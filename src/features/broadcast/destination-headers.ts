import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { SecretBox, DecryptionError } from '../../platform/crypto/secret-box.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { findHeaderProblem, isHeaderName } from '../../platform/outbound/destination.js';

/** Why a destination whose headers were encrypted with another secret cannot be asked. */
export const HEADERS_UNREADABLE =
  'could not be asked, because its headers cannot be read any more: set them again';

/** What stands in place of a value when headers are shown. Sent back, it means: as before. */
export const MASK = '********';

/** Any run of asterisks is taken for it: what a form shows as hidden is no value. */
const MASKED = /^\*+$/;

const MAX_HEADERS = 20;

/** Of a name, as far as an error repeats it. */
const MAX_SHOWN = 128;

/** They belong to the delivery, beside those that belong to the connection. */
const OWN = new Set(['content-type', 'idempotency-key']);

/** Encrypts the headers of destinations, which hold the tenants' keys to their collectors. */
@Injectable()
export class HeaderEncryption {
  private box: SecretBox | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {}

  encrypt(headers: Readonly<Record<string, string>>, destinationId: string): Buffer {
    return this.open().encrypt(JSON.stringify(headers), destinationId);
  }

  /** Undefined when they were encrypted with another `GATEWAY_SECRET`. */
  decrypt(encrypted: Buffer, destinationId: string): Record<string, string> | undefined {
    try {
      return JSON.parse(this.open().decrypt(encrypted, destinationId)) as Record<string, string>;
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }

  /** On first use, since a secret is made where there is none yet. */
  private open(): SecretBox {
    this.box ??= new SecretBox(() => gatewaySecrets(this.config), 'destination-headers');
    return this.box;
  }
}

/**
 * Reads the headers of a destination; names come out in lower case.
 *
 * @param before what the destination has, for values that come back masked
 * @throws InvalidRequestError naming the header at fault
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
      throw new InvalidRequestError('headers', '`headers` holds a name that is no header name.');
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
        `\`${shown}\` has no value that \`${MASK}\` could stand for; send the value itself.`,
      );
    }
    const meant = isMasked && kept !== undefined ? kept : value;
    const problem = OWN.has(name)
      ? 'is a header that the gateway sets itself'
      : findHeaderProblem(given, meant);
    if (problem !== undefined) throw new InvalidRequestError(param, `\`${shown}\` ${problem}.`);
    if (headers.has(name)) {
      throw new InvalidRequestError(param, `\`${shown}\` stands in \`headers\` more than once.`);
    }
    headers.set(name, meant);
  }
  return Object.fromEntries(headers);
}

/** What a delivery is sent with: the tenant's own headers, and what belongs to its body. */
export function deliveryHeaders(
  own: Readonly<Record<string, string>>,
  idempotencyKey: string,
): Record<string, string> {
  return {
    'user-agent': 'model-gateway',
    ...own,
    'content-type': 'application/json',
    // The same for every attempt, so that a receiver can tell a repetition.
    'idempotency-key': idempotencyKey,
  };
}
