import type { Command } from './command.js';
import { formatTable } from './format-table.js';

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
