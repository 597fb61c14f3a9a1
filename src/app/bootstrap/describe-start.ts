import { LINK_MINUTES, loginUrlOf } from '../../core/people/login-links.service.js';
import type { BootstrapOutcome } from './bootstrap.service.js';

export interface StartDescription {
  /** Base URL of the service. */
  url: string;
  /** The address it listens on. */
  host: string;
  bootstrap: BootstrapOutcome;
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model of a configured provider, for the example. */
  exampleModel: string | undefined;
  /** True when it serves `/console`. */
  hasConsole: boolean;
}

/** Renders the message of a successful start: keys, where to look, and an example call. */
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
      ? ['Only this machine can reach it. Set HOST=0.0.0.0 to open it to others.']
      : [`Other machines can reach it (HOST=${host}).`]),
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
    `  This link logs you in as the operator once, within ${LINK_MINUTES} minutes. After that, use the admin key:`,
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
    // Single quotes are safe for generated keys; a variable needs double quotes.
    `  -H ${key.startsWith('$') ? `"Authorization: Bearer ${key}"` : `'Authorization: Bearer ${key}'`} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** Returns the lines about keys for the start message. */
export function describeFirstKeys(outcome: BootstrapOutcome): string[] {
  const { adminKey } = outcome;
  const adminLine = adminKey === undefined ? [] : [`  Admin key:      ${adminKey}`];
  if (outcome.kind === 'created') {
    return [
      `Created the tenant "default" with two keys${adminKey === undefined ? '' : ', and an admin key for you'}. They are shown this once and not stored:`,
      `  API key:        ${outcome.created.apiKey}`,
      `  Management key: ${outcome.created.managementKey}`,
      ...adminLine,
    ];
  }
  const made = 'Created an admin key for you. It is shown this once and not stored:';
  return [...ORIGINS[outcome.kind], ...(adminKey === undefined ? [] : [made, ...adminLine])];
}

/** Describes the origin of keys that were not created at this start. */
const ORIGINS = {
  earlier: [
    'Keys were shown when the tenant "default" was created, on an earlier start.',
    'To create another: npm run gateway -- key create default',
  ],
  environment: ['The tenant "default" uses the keys in GATEWAY_BOOTSTRAP_*.'],
  file: ['Tenants and keys are those in GATEWAY_BOOTSTRAP_FILE.'],
};
