import { MAX_GRANT_CREDITS } from '../../platform/config/setting-bounds.js';
import type { Command } from './command.js';
import { findTenant, readInteger } from './read-arguments.js';

export const tenantGrantCommand: Command = {
  name: 'tenant grant',
  summary: 'Give a tenant credits (1,000,000 are 1 USD).',
  parameters: ['name', 'credits'],
  options: {},
  async run({ parameters }, context) {
    const [name, text] = parameters as [string, string];
    const credits = readInteger('<credits>', text, 1, MAX_GRANT_CREDITS);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    await services.grants.grant(tenant.id, credits);
    context.print(`Granted ${credits} credits to the tenant ${JSON.stringify(name)}.`);
  },
};
