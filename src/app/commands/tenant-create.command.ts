import { MAX_GRANT_CREDITS } from '../../platform/config/setting-bounds.js';
import { CommandError } from './command-error.js';
import type { Command } from './command.js';
import { readInteger, readName } from './read-arguments.js';

export const tenantCreateCommand: Command = {
  name: 'tenant create',
  summary: 'Make a tenant, with credits to begin with (1,000,000 are 1 USD).',
  parameters: ['name'],
  options: { credits: 'N' },
  async run({ parameters, options }, context) {
    const name = readName('<name>', parameters[0]!);
    const credits = readInteger('--credits', options.credits ?? '0', 0, MAX_GRANT_CREDITS);
    const { database, tenants, grants } = await context.services();
    await database.transaction(async (client) => {
      const tenant = await tenants.create(name, client);
      if (!tenant) throw new CommandError(`there is a tenant ${JSON.stringify(name)} already`);
      if (credits > 0) await grants.grantWithin(client, tenant.id, credits);
    });
    context.print(`Made the tenant ${JSON.stringify(name)} with ${credits} credits.`);
    context.print(`Give it a key: npm run gateway -- key create ${JSON.stringify(name)}`);
  },
};
