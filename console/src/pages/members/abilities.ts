/** Describes the service's role table for people. */
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
    text: 'Manage routing keys, guardrails, destinations, alerts and key limits; use the playground',
    roles: ['owner', 'developer'],
  },
  {
    right: 'own',
    text: 'Manage members, management keys, BYOK accounts and tenant limits',
    roles: ['owner'],
  },
  {
    right: 'content',
    text: 'Read stored prompts and answers, and configure their storage',
    roles: ['owner'],
  },
] as const;
