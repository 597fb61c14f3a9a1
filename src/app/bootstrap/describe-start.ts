import { LINK_MINUTES, loginUrlOf } from '../../core/people/login-links.service.js';
import type { BootstrapOutcome } from './bootstrap.service.js';

export interface StartDescription {
  /** Where the service is reached. */
  url: string;
  /** The address that it listens on. */
  host: string;
  bootstrap: BootstrapOutcome;
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model that a configured provider serves, for the example. */
  exampleModel: string | undefined;
  /** Whether there are pages at `/console`. */
  hasConsole: boolean;
}

/** What a newcomer reads when the service has started: keys, a call to try, and where to go on. */
export function describeStart({
  url,
  host,
  bootstrap,
  providers,
  exampleModel,
  hasConsole,
}: StartDescription): string {
  const lines = [
    '',
    `Model Gateway listens on ${url}`,
    ...(isLoopback(host)
      ? ['Only this machine reaches it; HOST=0.0.0.0 opens it to others.']
      : [`It is reached from other machines (HOST=${host}).`]),
    '',
    ...describeFirstKeys(bootstrap),
    '',
    `Providers: ${providers.join(', ') || 'none; set OPENAI_API_KEY, for example'}`,
    ...(hasConsole ? consoleLines(url, bootstrap) : []),
    `Swagger UI: ${url}/docs`,
  ];
  if (exampleModel !== undefined) {
    const key = bootstrap.created?.apiKey ?? '$GATEWAY_API_KEY';
    lines.push('', 'Try it:', '', curlLine(url, key, exampleModel));
  }
  return `${lines.join('\n')}\n\n`;
}

function consoleLines(url: string, { loginToken }: BootstrapOutcome): string[] {
  if (loginToken === undefined) return [`Console: ${url}/console`];
  return [
    `Console: ${url}/console`,
    `  This link logs you in as the operator, once and within ${LINK_MINUTES} minutes; later, the admin key does:`,
    `  ${loginUrlOf(url, loginToken)}`,
  ];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function curlLine(url: string, key: string, model: string): string {
  const body = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  return [
    `curl ${url}/v1/chat/completions \\`,
    // In single quotes a key of printed characters is safe; a variable has to stand in double ones.
    `  -H ${key.startsWith('$') ? `"Authorization: Bearer ${key}"` : `'Authorization: Bearer ${key}'`} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** The lines about keys for what the service prints when it has started. */
export function describeFirstKeys(outcome: BootstrapOutcome): string[] {
  const { adminKey } = outcome;
  const adminLine = adminKey === undefined ? [] : [`  Admin key:      ${adminKey}`];
  if (outcome.kind === 'created') {
    return [
      `The tenant "default" was made, with two keys${adminKey === undefined ? '' : ', and a key for you as the operator'}. They are shown this once and not stored:`,
      `  API key:        ${outcome.created.apiKey}`,
      `  Management key: ${outcome.created.managementKey}`,
      ...adminLine,
    ];
  }
  const made = 'A key for you as the operator was made. It is shown this once and not stored:';
  return [...ORIGINS[outcome.kind], ...(adminKey === undefined ? [] : [made, ...adminLine])];
}

/** Where keys come from that were not made at this start. */
const ORIGINS = {
  earlier: [
    'Keys were shown when the tenant "default" was made, on an earlier start.',
    'To make a new one: npm run gateway -- key create default',
  ],
  environment: ['The tenant "default" has the keys of GATEWAY_BOOTSTRAP_*.'],
  file: ['Tenants and keys are those of GATEWAY_BOOTSTRAP_FILE.'],
};
