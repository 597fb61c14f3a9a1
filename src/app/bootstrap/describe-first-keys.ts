import type { BootstrapOutcome } from './bootstrap-outcome.js';

/** The lines about keys for what the service prints when it has started. */
export function describeFirstKeys(outcome: BootstrapOutcome): string[] {
  switch (outcome.kind) {
    case 'created':
      return [
        'The tenant "default" was made, with two keys. They are shown this once and not stored:',
        `  API key:        ${outcome.created.apiKey}`,
        `  Management key: ${outcome.created.managementKey}`,
      ];
    case 'earlier':
      return [
        'Keys were shown when the tenant "default" was made, on an earlier start.',
        'To make a new one: npm run gateway -- key create default',
      ];
    case 'environment':
      return ['The tenant "default" has the keys of GATEWAY_BOOTSTRAP_*.'];
    case 'file':
      return ['Tenants and keys are those of GATEWAY_BOOTSTRAP_FILE.'];
  }
}
