import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { MAX_GRANT_CREDITS } from '../../platform/config/setting-values.js';
import { type Command, readInteger, readName, findTenant } from './command.js';
import { formatTable } from '../../operator/format-table.js';

export const tenantLimitCommand: Command = {
  name: 'tenant limit',
  summary: 'Set a tenant\'s spend limit for a calendar month (UTC), in credits, or "none".',
  parameters: ['name', 'credits'],
  options: {},
  async run({ parameters }, context) {
    const [name = '', text = ''] = parameters;
    const credits =
      text === 'none' ? null : readInteger('<credits>', text, 0, Number.MAX_SAFE_INTEGER);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    await services.admin.update(COMMAND_AUTHOR, tenant.id, { monthlySpendLimit: credits });
    context.print(
      credits === null
        ? `The tenant ${JSON.stringify(name)} has no monthly limit.`
        : `The tenant ${JSON.stringify(name)} may spend ${credits} credits a month.`,
    );
  },
};

export const tenantGrantCommand: Command = {
  name: 'tenant grant',
  summary: 'Grant credits to a tenant (1,000,000 are 1 USD).',
  parameters: ['name', 'credits'],
  options: { memo: 'TEXT' },
  async run({ parameters, options }, context) {
    const [name = '', text = ''] = parameters;
    const credits = readInteger('<credits>', text, 1, MAX_GRANT_CREDITS);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    const entry = { kind: 'grant', credits, memo: options.memo ?? null } as const;
    await services.entries.add(COMMAND_AUTHOR, tenant.id, entry, undefined);
    context.print(`Granted ${credits} credits to the tenant ${JSON.stringify(name)}.`);
  },
};

export const tenantCorrectCommand: Command = {
  name: 'tenant correct',
  summary: "Correct a tenant's credits up or down: --credits=-500 removes 500 available credits.",
  parameters: ['name'],
  options: { credits: 'N', memo: 'TEXT' },
  async run({ parameters, options }, context) {
    const [name = ''] = parameters;
    const { credits: text = '', memo = null } = options;
    const size = readInteger('--credits', text.replace(/^-/, ''), 1, MAX_GRANT_CREDITS);
    const credits = text.startsWith('-') ? -size : size;
    const services = await context.services();
    const tenant = await findTenant(services, name);
    const entry = { kind: 'correction', credits, memo } as const;
    await services.entries.add(COMMAND_AUTHOR, tenant.id, entry, undefined);
    context.print(`Corrected the tenant ${JSON.stringify(name)} by ${credits} credits.`);
  },
};

const statusCommand = (verb: 'suspend' | 'resume', summary: string): Command => ({
  name: `tenant ${verb}`,
  summary,
  parameters: ['name'],
  options: {},
  async run({ parameters }, context) {
    const [name = ''] = parameters;
    const services = await context.services();
    const tenant = await findTenant(services, name);
    const status = verb === 'suspend' ? 'suspended' : 'active';
    await services.admin.update(COMMAND_AUTHOR, tenant.id, { status });
    context.print(`The tenant ${JSON.stringify(name)} is ${status}.`);
  },
});

export const tenantSuspendCommand = statusCommand(
  'suspend',
  "Limit a tenant's keys to reading; running instances obey within a second.",
);

export const tenantResumeCommand = statusCommand('resume', 'Lift the suspension of a tenant.');

export const tenantDeleteCommand: Command = {
  name: 'tenant delete',
  summary:
    'Delete a suspended tenant and its stored data, and anonymize its records; irreversible.',
  parameters: ['name'],
  options: {},
  async run({ parameters }, context) {
    const [name = ''] = parameters;
    const services = await context.services();
    const tenant = await findTenant(services, name);
    const deleted = await services.eraser.delete(COMMAND_AUTHOR, tenant.id);
    await services.eraser.eraseLogs();
    context.print(`The tenant is now ${JSON.stringify(deleted.name)}.`);
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
      // Quoted where a name would break the table.
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
  summary: 'Create a tenant with initial credits (1,000,000 are 1 USD).',
  parameters: ['name'],
  options: { credits: 'N' },
  async run({ parameters, options }, context) {
    const name = readName('<name>', parameters[0]!);
    const credits = readInteger('--credits', options.credits ?? '0', 0, MAX_GRANT_CREDITS);
    const { admin } = await context.services();
    await admin.create(COMMAND_AUTHOR, {
      name,
      credits,
      memo: null,
      monthlySpendLimit: null,
      keyTypes: [],
    });
    context.print(`Created the tenant ${JSON.stringify(name)} with ${credits} credits.`);
    context.print(`Create a key for it: npm run gateway -- key create ${JSON.stringify(name)}`);
  },
};
