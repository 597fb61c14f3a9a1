import type { BootstrapOutcome } from './bootstrap-outcome.js';
import { describeFirstKeys } from './describe-first-keys.js';

export interface StartDescription {
  /** Where the service is reached. */
  url: string;
  bootstrap: BootstrapOutcome;
  /** Ids of the configured providers. */
  providers: readonly string[];
  /** A chat model that a configured provider serves, for the example. */
  exampleModel: string | undefined;
}

/** What a newcomer reads when the service has started: keys, a call to try, and where to go on. */
export function describeStart({
  url,
  bootstrap,
  providers,
  exampleModel,
}: StartDescription): string {
  const lines = [
    '',
    `Model Gateway listens on ${url}`,
    '',
    ...describeFirstKeys(bootstrap),
    '',
    `Providers: ${providers.join(', ') || 'none; set OPENAI_API_KEY, for example'}`,
    `Swagger UI: ${url}/docs`,
  ];
  if (exampleModel !== undefined) {
    const key = bootstrap.created?.apiKey ?? '$GATEWAY_API_KEY';
    lines.push('', 'Try it:', '', curlLine(url, key, exampleModel));
  }
  return `${lines.join('\n')}\n\n`;
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
