import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { auditedEntry } from '../../core/ledger/grants.service.js';
import { MAX_GRANT_CREDITS } from '../../platform/config/setting-values.js';
import {
  CommandError,
  type Command,
  readInteger,
  readName,
  formatTable,
  findTenant,
} from './command.js';

export const tenantLimitCommand: Command = {
  name: 'tenant limit',
  summary: 'Set what a tenant may spend in a calendar month (UTC), in credits, or "none".',
  parameters: ['name', 'credits'],
  options: {},
  async run({ parameters }, context) {
    const [name = '', text = ''] = parameters;
    const credits =
      text === 'none' ? null : readInteger('<credits>', text, 0, Number.MAX_SAFE_INTEGER);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    await services.database.transaction(async (client) => {
      const before = await services.tenants.setMonthlySpendLimit(tenant.id, credits, client);
      await services.audit.record(client, COMMAND_AUTHOR, {
        ...ofTenant(tenant.id, 'update'),
        before: { monthly_spend_limit: before },
        after: { monthly_spend_limit: credits },
      });
    });
    context.print(
      credits === null
        ? `The tenant ${JSON.stringify(name)} has no monthly limit.`
        : `The tenant ${JSON.stringify(name)} may spend ${credits} credits a month.`,
    );
  },
};

export const tenantGrantCommand: Command = {
  name: 'tenant grant',
  summary: 'Give a tenant credits (1,000,000 are 1 USD).',
  parameters: ['name', 'credits'],
  options: {},
  async run({ parameters }, context) {
    const [name = '', text = ''] = parameters;
    const credits = readInteger('<credits>', text, 1, MAX_GRANT_CREDITS);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    await services.database.transaction(async (client) => {
      const entry = await services.grants.grantWithin(client, tenant.id, credits);
      await services.audit.record(client, COMMAND_AUTHOR, auditedEntry(tenant.id, entry));
    });
    context.print(`Granted ${credits} credits to the tenant ${JSON.stringify(name)}.`);
  },
};

export const tenantListCommand: Command = {
  name: 'tenant list',
  summary: 'List the tenants and their credits.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { tenants } = await context.services();
    const rows = (await tenants.list()).map((tenant) => [
      // Quoted where it would break the table.
      /^[\x21-\x7e]+$/.test(tenant.name) ? tenant.name : JSON.stringify(tenant.name),
      String(tenant.balance),
      String(tenant.held),
      String(tenant.spent),
      String(tenant.keyCount),
      tenant.createdAt.toISOString(),
    ]);
    const heading = ['NAME', 'BALANCE', 'HELD', 'SPENT', 'KEYS', 'CREATED'];
    formatTable([heading, ...rows]).forEach(context.print);
  },
};

export const tenantCreateCommand: Command = {
  name: 'tenant create',
  summary: 'Make a tenant, with credits to begin with (1,000,000 are 1 USD).',
  parameters: ['name'],
  options: { credits: 'N' },
  async run({ parameters, options }, context) {
    const name = readName('<name>', parameters[0]!);
    const credits = readInteger('--credits', options.credits ?? '0', 0, MAX_GRANT_CREDITS);
    const { database, tenants, grants, audit } = await context.services();
    await database.transaction(async (client) => {
      const tenant = await tenants.create(name, client);
      if (!tenant) throw new CommandError(`there is a tenant ${JSON.stringify(name)} already`);
      await audit.record(client, COMMAND_AUTHOR, {
        ...ofTenant(tenant.id, 'create'),
        before: null,
        after: { name },
      });
      if (credits === 0) return;
      const entry = await grants.grantWithin(client, tenant.id, credits);
      await audit.record(client, COMMAND_AUTHOR, auditedEntry(tenant.id, entry));
    });
    context.print(`Made the tenant ${JSON.stringify(name)} with ${credits} credits.`);
    context.print(`Give it a key: npm run gateway -- key create ${JSON.stringify(name)}`);
  },
};

function ofTenant(id: string, verb: 'create' | 'update') {
  return { tenantId: id, action: `tenant.${verb}`, target: { type: 'tenant', id } };
}
