/** What members may do, and who of them: in words what the service's table of roles says. */
export const ABILITIES = [
  {
    right: 'money',
    text: 'See balance, spend, statements, receipts, budgets and models',
    roles: ['owner', 'developer', 'viewer', 'billing'],
  },
  {
    right: 'read',
    text: 'See requests, keys, guardrails, jobs, integrations, members and the audit log',
    roles: ['owner', 'developer', 'viewer'],
  },
  {
    right: 'develop',
    text: 'Make and change routing keys, guardrails, destinations, alerts and limits of keys; use the playground',
    roles: ['owner', 'developer'],
  },
  {
    right: 'own',
    text: 'Change members, management keys, vendor accounts and limits of the tenant',
    roles: ['owner'],
  },
  {
    right: 'content',
    text: 'Read prompts and answers that are kept, and decide whether they are',
    roles: ['owner'],
  },
] as const;
