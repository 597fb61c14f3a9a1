import type { Command } from './command.js';
import { findTenant, readInteger } from './read-arguments.js';

export const tenantLimitCommand: Command = {
  name: 'tenant limit',
  summary: 'Set what a tenant may spend in a calendar month (UTC), in credits, or "none".',
  parameters: ['name', 'credits'],
  options: {},
  async run({ parameters }, context) {
    const [name, text] = parameters as [string, string];
    const credits =
      text === 'none' ? null : readInteger('<credits>', text, 0, Number.MAX_SAFE_INTEGER);
    const services = await context.services();
    const tenant = await findTenant(services, name);
    await services.tenants.setMonthlySpendLimit(tenant.id, credits);
    context.print(
      credits === null
        ? `The tenant ${JSON.stringify(name)} has no monthly limit.`
        : `The tenant ${JSON.stringify(name)} may spend ${credits} credits a month.`,
    );
  },
};
