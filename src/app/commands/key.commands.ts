import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { API_KEY_TYPES, type ApiKeyType } from '../../core/access/caller.js';
import { mintApiKey } from '../../core/access/api-key.js';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE,
  MAX_RATE_LIMIT_PER_MINUTE,
} from '../../platform/config/setting-values.js';
import {
  UsageError,
  type Command,
  findTenant,
  readFutureTime,
  readInteger,
  readName,
  CommandError,
  readUuid,
} from './command.js';

export const keyRevokeCommand: Command = {
  name: 'key revoke',
  summary: 'Revoke an API key; running instances reject it within a second.',
  parameters: ['key-id'],
  options: {},
  async run({ parameters }, context) {
    const id = readUuid('<key-id>', parameters[0]!);
    const { apiKeys } = await context.services();
    if (!(await apiKeys.revoke(COMMAND_AUTHOR, id))) {
      throw new CommandError(`there is no key with id ${id}`);
    }
    context.print(`Revoked the key ${id}.`);
  },
};

export const keyCreateCommand: Command = {
  name: 'key create',
  summary: 'Create an API key for a tenant and print it, once.',
  parameters: ['tenant'],
  options: {
    type: API_KEY_TYPES.join('|'),
    name: 'NAME',
    'rate-limit': 'N',
    'monthly-spend-limit': 'CREDITS',
    expires: 'ISO-TIME',
  },
  async run({ parameters, options }, context) {
    const type = readType(options.type ?? 'routing');
    const name = readName('--name', options.name ?? `${type} key`);
    const rateLimitPerMinute = readInteger(
      '--rate-limit',
      options['rate-limit'] ?? String(DEFAULT_RATE_LIMIT_PER_MINUTE),
      1,
      MAX_RATE_LIMIT_PER_MINUTE,
    );
    const spendLimit = options['monthly-spend-limit'];
    const monthlySpendLimit =
      spendLimit === undefined
        ? null
        : readInteger('--monthly-spend-limit', spendLimit, 1, Number.MAX_SAFE_INTEGER);
    const expiresAt =
      options.expires === undefined ? null : readFutureTime('--expires', options.expires);

    const services = await context.services();
    const tenant = await findTenant(services, parameters[0]!);
    const plaintext = mintApiKey(type);
    const id = await services.apiKeys.create(COMMAND_AUTHOR, {
      tenantId: tenant.id,
      type,
      name,
      plaintext,
      rateLimitPerMinute,
      expiresAt,
      monthlySpendLimit,
    });
    context.print(`Created a ${type} key for the tenant ${JSON.stringify(tenant.name)}.`);
    context.print(`Id:         ${id}`);
    context.print(`Rate limit: ${rateLimitPerMinute} requests per minute`);
    context.print(`Spend:      ${spendLimitText(monthlySpendLimit)}`);
    context.print(`Expires:    ${expiresAt?.toISOString() ?? 'never'}`);
    context.print('The key is shown this once and not stored:');
    context.print(plaintext);
  },
};

function spendLimitText(credits: number | null): string {
  return credits === null ? "limited by its tenant's" : `${credits} credits a month`;
}

function readType(text: string): ApiKeyType {
  const type = API_KEY_TYPES.find((candidate) => candidate === text);
  if (type) return type;
  throw new UsageError(`--type must be ${API_KEY_TYPES.join(' or ')}`);
}
