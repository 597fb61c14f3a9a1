import { chatModel, modelRoute } from './catalogue-models.js';
import { World, type Script } from './routing-environment.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import type { PoolAccount, ProviderConfig } from '../../src/platform/config/app-config.js';
import { GatewayError } from '../../src/platform/errors/gateway-errors.js';

export const pool = (
  id: string,
  accounts: Record<string, Partial<PoolAccount>>,
): ProviderConfig => ({
  id,
  name: id,
  adapter: 'openai',
  type: 'openai',
  baseUrl: 'https://example.com/v1',
  apiKey: undefined,
  settings: {},
  accounts: Object.entries(accounts).map(([name, fields]) => ({
    id: name,
    apiKey: name,
    weight: 1,
    ...fields,
  })),
});

export const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
export const alone = chatModel('openai/alone', [modelRoute('openai')]);
export const gone = chatModel('openai/gone', [modelRoute('openai')]);

export function world(
  accounts: Record<string, Partial<PoolAccount>>,
  scripts: Record<string, Script[]> = {},
  others: ProviderConfig[] = [],
) {
  return new World(scripts, [gpt, alone, gone], undefined, [pool('openai', accounts), ...others]);
}

/** Plans and answers a request like the ledger at the end of an answer. */
export async function ask(one: World, fields: Record<string, unknown> = {}) {
  const opened = await one.open(fields);
  opened.plan.noteEnd({ ...NO_USAGE, inputTokens: 10, outputTokens: 20 });
  return opened;
}

export async function refusal(
  one: World,
  fields: Record<string, unknown> = {},
): Promise<GatewayError> {
  const thrown: unknown = await one.plan(fields).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error('the request was not refused');
}

export const limits = (requestsPerMinute: number) => ({ requestsPerMinute });
export const countOf = (called: readonly string[]) =>
  Object.fromEntries(
    [...new Set(called)].sort().map((name) => [name, called.filter((one) => one === name).length]),
  );
