import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AppConfig } from '../../platform/config/app-config.js';
import { OidcClient } from './oidc-client.service.js';

type Json = Record<string, unknown>;

const CLIENT = { clientId: 'gateway', clientSecret: 'the-secret-of-the-gateway' };
const REDIRECT = 'http://gateway.test/v1/auth/callback';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: foreignKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };

/** Responses of the issuer. */
interface Answers {
  metadata: Json;
  keys: Json;
  idToken: string;
  userinfo: Json;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: Json, key: KeyObject = privateKey, head: Json = {}): string {
  const text = `${encode({ alg: 'RS256', kid: 'one', ...head })}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function signedWith(secret: string, claims: Json): string {
  const text = `${encode({ alg: 'HS256', kid: 'one' })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

describe(OidcClient.name, () => {
  let server: Server;
  let issuer: string;
  let client: OidcClient;
  let answers: Answers;

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    server = createServer((request, response) => {
      const { metadata, keys, idToken, userinfo } = answers;
      const token = { access_token: 'a', token_type: 'Bearer', id_token: idToken };
      const answer = { '/keys': keys, '/token': token, '/me': userinfo }[request.url ?? ''];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer ?? metadata));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    jest.restoreAllMocks();
  });
  beforeEach(() => {
    const oidc = { ...CLIENT, issuer, scopes: 'openid', roles: [], rolesClaim: 'groups' };
    client = new OidcClient({ people: { oidc } } as unknown as AppConfig);
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/me`,
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    };
    answers = { metadata, keys: { keys: [KEY] }, idToken: '', userinfo: { sub: 'ada' } };
  });

  /** @param toToken makes an ID token of valid claims */
  async function logIn(toToken: (claims: Json) => string): Promise<Json> {
    const { login } = await client.begin(REDIRECT);
    const nowS = Math.floor(Date.now() / 1_000);
    const times = { iat: nowS, exp: nowS + 60 };
    answers.idToken = toToken({
      iss: issuer,
      aud: 'gateway',
      sub: 'ada',
      nonce: login.nonce,
      ...times,
    });
    return client.finish(new URL(`${REDIRECT}?code=c&state=${login.state}`), login);
  }

  it('accepts a valid ID token', async () => {
    expect(await logIn(signed)).toMatchObject({ sub: 'ada' });
  });

  const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

  it.each<[string, (claims: Json) => string]>([
    ['that is not signed', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ["signed with the gateway's own secret", (claims) => signedWith(CLIENT.clientSecret, claims)],
    ['signed with the public key', (claims) => signedWith(pem, claims)],
    ['signed with another key', (claims) => signed(claims, foreignKey)],
    ['signed with an unknown key', (claims) => signed(claims, privateKey, { kid: 'two' })],
    [
      'with an unknown critical header',
      (claims) => signed(claims, privateKey, { crit: ['x'], x: 1 }),
    ],
    ['for another client', (claims) => signed({ ...claims, aud: 'another' })],
    ['for several clients', (claims) => signed({ ...claims, aud: ['gateway', 'another'] })],
    ['from another issuer', (claims) => signed({ ...claims, iss: `${issuer}/` })],
    ['that has expired', (claims) => signed({ ...claims, exp: Date.now() / 1_000 - 3_600 })],
    ['that never expires', (claims) => signed({ ...claims, exp: undefined })],
    ['for another login', (claims) => signed({ ...claims, nonce: 'x' })],
    ['without a nonce', (claims) => signed({ ...claims, nonce: undefined })],
    ['without a subject', (claims) => signed({ ...claims, sub: undefined })],
    ['with an empty subject', (claims) => signed({ ...claims, sub: '' })],
    ['with an overlong subject', (claims) => signed({ ...claims, sub: 'x'.repeat(256) })],
  ])('rejects an ID token %s', async (_, toToken) => {
    await expect(logIn(toToken)).rejects.toMatchObject({ status: 401 });
  });

  it('takes `email_verified` from the source of the e-mail address', async () => {
    answers.userinfo = { sub: 'ada', email: 'own@one.example', email_verified: true };
    expect(await logIn(signed)).toMatchObject(answers.userinfo);
    const email = 'other@two.example';
    client = new OidcClient({
      people: { oidc: { ...client.configured(), roles: [{ value: 'a', role: 'admin' }] } },
    } as unknown as AppConfig);
    const claims = await logIn((honest) => signed({ ...honest, email }));
    expect(claims).toMatchObject({ email, email_verified: undefined });
  });

  it.each(['metadata', 'keys'] as const)('reads at most 1 MiB of its %s', async (what) => {
    answers[what] = { ...answers[what], more: 'x'.repeat(1024 * 1024) };
    await expect(logIn(signed)).rejects.toMatchObject({ status: 503, param: 'issuer' });
  });
});
