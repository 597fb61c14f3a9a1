import { describe, expect, it } from '@jest/globals';
import type { AppConfig } from '../../platform/config/app-config.js';
import {
  deliveryHeaders,
  HeaderEncryption,
  MASK,
  readDestinationHeaders,
} from './destination-headers.js';

const encryptionWith = (secret: string) =>
  new HeaderEncryption({ secret, previousSecrets: [] } as Partial<AppConfig> as AppConfig);

describe(HeaderEncryption.name, () => {
  const headers = { authorization: 'Bearer secret', 'x-team': 'a' };
  const encrypted = encryptionWith('a'.repeat(32)).encrypt(headers, 'one');

  it('decrypts its own output and is opaque otherwise', () => {
    expect(encrypted.toString('latin1')).not.toContain('secret');
    expect(encryptionWith('a'.repeat(32)).decrypt(encrypted, 'one')).toEqual(headers);
  });

  it('cannot decrypt with another secret or for another destination', () => {
    expect(encryptionWith('b'.repeat(32)).decrypt(encrypted, 'one')).toBeUndefined();
    expect(encryptionWith('a'.repeat(32)).decrypt(encrypted, 'two')).toBeUndefined();
  });
});

describe(readDestinationHeaders.name, () => {
  it('lower-cases names and keeps values', () => {
    expect(readDestinationHeaders({ Authorization: 'Bearer A', 'X-Team': '' })).toEqual({
      authorization: 'Bearer A',
      'x-team': '',
    });
  });

  it.each([MASK, '*', '**********************'])(
    'keeps the stored value for the mask %s',
    (masked) => {
      const before = { authorization: 'Bearer A', 'x-gone': 'b' };
      expect(readDestinationHeaders({ AUTHORIZATION: masked, 'x-new': 'c' }, before)).toEqual({
        authorization: 'Bearer A',
        'x-new': 'c',
      });
    },
  );

  it.each<[string, string, Record<string, unknown>]>([
    ['a mask without a stored value', 'headers.X-Key', { 'X-Key': MASK }],
    ['a mask for an inherited property', 'headers.constructor', { constructor: MASK }],
    ['a value that is not a string', 'headers.a', { a: 1 }],
    ['an invalid name', 'headers', { 'a b': 'c' }],
    ['one name twice', 'headers.X-A', { 'x-a': '1', 'X-A': '2' }],
    ['the type of the body', 'headers.Content-Type', { 'Content-Type': 'text/plain' }],
    ['the idempotency key', 'headers.idempotency-key', { 'idempotency-key': '1' }],
    ['a connection header', 'headers.Host', { Host: 'a.test' }],
    ['a line break', 'headers.x-a', { 'x-a': 'b\r\nx-c: d' }],
    [
      'too many',
      'headers',
      Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, ''])),
    ],
  ])('rejects %s', (_, param, headers) => {
    let refusal: unknown;
    try {
      readDestinationHeaders(headers);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ status: 400, param });
  });

  it('accepts twenty headers', () => {
    const twenty = Array.from({ length: 20 }, (_, index) => [`x-${index}`, ''] as const);
    expect(Object.keys(readDestinationHeaders(Object.fromEntries(twenty)))).toHaveLength(20);
  });
});

describe(deliveryHeaders.name, () => {
  it('lets a tenant set its identity but not headers of the body', () => {
    const own = { 'user-agent': 'own', 'content-type': 'text/plain', 'idempotency-key': 'own' };
    expect(deliveryHeaders(own, 'delivery')).toEqual({
      'user-agent': 'own',
      'content-type': 'application/json',
      'idempotency-key': 'delivery',
    });
    expect(deliveryHeaders({}, 'delivery')['user-agent']).toBe('model-gateway');
  });
});
