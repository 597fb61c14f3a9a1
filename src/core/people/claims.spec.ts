import { describe, expect, it } from '@jest/globals';
import type { OidcConfig } from '../../platform/config/people-env.js';
import { identityOf } from './claims.js';

const OIDC: OidcConfig = {
  issuer: 'https://issuer.example',
  clientId: 'gateway',
  clientSecret: undefined,
  scopes: 'openid',
  emailDomains: [],
  rolesClaim: 'groups',
  roles: [
    { value: 'admins', tenant: undefined, role: 'admin' },
    { value: 'dev', tenant: 'acme', role: 'developer' },
  ],
};

describe(identityOf.name, () => {
  it.each([
    [{ email: 'A@Acme.example', email_verified: true }, true],
    [{ email: 'a@acme.example', email_verified: 'true' }, true],
    [{ email: 'a@acme.example', email_verified: 1 }, false],
    [{ email: 'a@acme.example' }, false],
    [{ email_verified: true }, false],
  ])('believes an address that the issuer calls verified: %j', (claims, isEmailVerified) => {
    const identity = identityOf({ sub: '1', ...claims }, OIDC);
    expect(identity.isEmailVerified).toBe(isEmailVerified);
    expect(identity.email).toBe('email' in claims ? 'a@acme.example' : null);
  });

  it.each([
    [{}, []],
    [{ groups: 'admins' }, ['admin']],
    [{ groups: ['dev', 'other', 7] }, ['developer']],
    [{ groups: { dev: true } }, []],
  ])('maps %j', (claims, roles) => {
    const { roles: mapped } = identityOf({ sub: '1', ...claims }, OIDC);
    expect(mapped.map(({ role }) => role)).toEqual(roles);
  });

  it('rejects a verified address whose domain is not allowed', () => {
    const oidc = { ...OIDC, emailDomains: ['acme.example'] };
    const of = (email: string, verified: boolean): unknown =>
      identityOf({ sub: '1', email, email_verified: verified }, oidc).email;
    expect(of('a@ACME.example', true)).toBe('a@acme.example');
    for (const [email, verified] of [
      ['a@acme.example', false],
      ['a@elsewhere.example', true],
      ['a@sub.acme.example', true],
      ['a@acme.example@elsewhere.example', true],
      ['acme.example', true],
      ['a@\uFF41cme.example', true],
      ['a@acme.example\u200B', true],
    ] as const) {
      expect(() => of(email, verified)).toThrow(expect.objectContaining({ status: 403 }));
    }
  });

  it.each([
    '\u212Aate@acme.example',
    'k\u0131te@acme.example',
    '\uFF4Bate@acme.example',
    'kat\u0301e@acme.example',
  ])('keeps %j apart from ASCII addresses', (email) => {
    expect(identityOf({ sub: '1', email, email_verified: true }, OIDC).email).toBe(email);
  });

  it.each([
    ' kate@acme.example',
    'kate@acme.example\u00A0',
    'ka\u200Bte@acme.example',
    '\u202Ekate@acme.example',
  ])('takes no address with spaces or invisible characters: %j', (email) => {
    const identity = identityOf({ sub: '1', email, email_verified: true }, OIDC);
    expect(identity).toMatchObject({ email: null, isEmailVerified: false, name: '1' });
  });

  it('finds a name in any claims', () => {
    expect(identityOf({ sub: '1', name: ' Ada ' }, OIDC).name).toBe('Ada');
    expect(identityOf({ sub: '1', preferred_username: 'ada' }, OIDC).name).toBe('ada');
    expect(identityOf({ sub: '1', name: 7 }, OIDC).name).toBe('1');
    expect(identityOf({ sub: '1', name: 'x'.repeat(300) }, OIDC).name).toHaveLength(255);
  });

  it('reduces a name to one visible line', () => {
    const name = 'Ada\nFiring: \u202Eecila\u001b[2J';
    expect(identityOf({ sub: '1', name }, OIDC).name).toBe('Ada Firing: ecila [2J');
    expect(identityOf({ sub: '1', name: '\u200B', email: 'a@b.example' }, OIDC).name).toBe('1');
  });
});
