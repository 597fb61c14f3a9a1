import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import type { ProviderConfig } from '../platform/config/app-config.js';
import { ownAccountFormOf } from './vendors.js';

const provider = (adapter: string, baseUrl = ''): ProviderConfig => ({
  id: 'p',
  name: 'P',
  adapter,
  type: 'openai',
  baseUrl,
  apiKey: undefined,
  settings: { responses: 'true' },
});

const PRIVATE_KEY = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n';
const SERVICE_ACCOUNT = {
  type: 'service_account',
  project_id: 'p',
  client_email: 'me@p.iam.gserviceaccount.com',
  private_key: PRIVATE_KEY,
  token_uri: 'http://169.254.169.254/token',
  universe_domain: 'evil.example',
};

describe('BYOK account forms', () => {
  it.each([
    'openai',
    'anthropic',
    'fish-audio',
    'elevenlabs',
    'deepgram',
    'something-else',
    'constructor',
  ])("with %s has a key, at the operator's address", (adapter) => {
    const form = ownAccountFormOf({ adapter });
    const template = provider(adapter, 'https://a.example/v1');
    expect(form.settings).toEqual({});
    expect(form.hasOwnAddress(template)).toBe(false);
    expect(form.configure(template, { key: 'k', settings: {} })).toEqual({
      ...template,
      apiKey: 'k',
    });
  });

  it("uses the address of the tenant's own resource", () => {
    const form = ownAccountFormOf({ adapter: 'azure' });
    const settings = { endpoint: 'https://Me.openai.azure.com/', api_version: '2024-10-21' };
    expect(form.hasOwnAddress(provider('azure', 'https://operator.example'))).toBe(true);
    const operators = provider('azure', 'https://operator.example');
    expect(form.configure(operators, { key: 'k', settings })).toMatchObject({
      baseUrl: 'https://me.openai.azure.com',
      apiKey: 'k',
      settings: { apiVersion: '2024-10-21' },
    });
  });

  it.each([
    ['bedrock', { access_key_id: 'AKIAIOSFODNN7EXAMPLE', region: 'eu-west-1' }],
    ['vertex', { project: 'p', location: 'global' }],
  ])('derives the address for %s unless the operator has set one', (adapter, settings) => {
    const form = ownAccountFormOf({ adapter });
    expect(form.hasOwnAddress(provider(adapter))).toBe(true);
    expect(form.hasOwnAddress(provider(adapter, 'https://inside.example'))).toBe(false);
    const configured = form.configure(provider(adapter), { key: 'k', settings });
    expect(Object.values(configured.settings)).toEqual(Object.values(settings));
  });

  it.each([
    ['https://me.openai.azure.com', true],
    ['https://me.openai.azure.com:8443/', true],
    ['https://93.184.216.34', true],
    ['http://me.openai.azure.com', false],
    ['https://127.0.0.1', false],
    ['https://2130706433', false],
    ['https://0x7f.1', false],
    ['https://[::ffff:10.0.0.1]', false],
    ['https://169.254.169.254', false],
    ['https://me.example?a=b', false],
    ['https://me.example#a', false],
    ['https://user@me.example', false],
    ['ftp://me.example', false],
    ['https:me.example', false],
    [`https://${'a'.repeat(300)}.example`, false],
  ])('accepts the endpoint %s: %s', (endpoint, isTaken) => {
    const { endpoint: setting } = ownAccountFormOf({ adapter: 'azure' }).settings;
    expect(setting!.faultOf(endpoint, { allowPrivate: false }) === undefined).toBe(isTaken);
  });

  it('previews only a little of a key', () => {
    const form = ownAccountFormOf({ adapter: 'openai' });
    expect(form.readKey('sk-proj-0123456789abcdef')).toEqual({
      key: 'sk-proj-0123456789abcdef',
      preview: 'sk-p...cdef',
    });
    expect(form.readKey('12345678')).toEqual({ key: '12345678', preview: '...78' });
  });

  it('stores only the signing fields of a service account', () => {
    const form = ownAccountFormOf({ adapter: 'vertex' });
    const read = form.readKey(JSON.stringify(SERVICE_ACCOUNT, undefined, 2));
    expect(read).toMatchObject({ preview: SERVICE_ACCOUNT.client_email });
    expect(JSON.parse((read as { key: string }).key)).toEqual({
      type: 'service_account',
      client_email: SERVICE_ACCOUNT.client_email,
      private_key: PRIVATE_KEY,
    });
    expect(inspect(read)).not.toContain('169.254');
  });

  it.each([
    ['another type', { ...SERVICE_ACCOUNT, type: 'external_account' }],
    ['no name', { ...SERVICE_ACCOUNT, client_email: undefined }],
    ['no private key', { ...SERVICE_ACCOUNT, private_key: 'none' }],
    ['no JSON', '{'],
    ['an array in braces', '{"type":["service_account"]}'],
    ['too much', { ...SERVICE_ACCOUNT, more: 'x'.repeat(10_000) }],
  ])('rejects a service account with %s', (_case, given) => {
    const key = typeof given === 'string' ? given : JSON.stringify(given);
    expect(ownAccountFormOf({ adapter: 'vertex' }).readKey(key)).toHaveProperty('fault');
  });
});
