import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { Usage } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { ModelKind } from '../../core/catalogue/catalogue.types.js';
import type { WindowRow } from './log-window.js';
import { modelIn, providerIn } from './learned-vendors.js';

const CHARACTERS_PER_TOKEN = 4;
const NO_TEXT = Buffer.alloc(0);
const DIALECTS: ReadonlySet<string> = new Set<CanonicalRequest['dialect']>([
  'chat',
  'messages',
  'responses',
]);

/**
 * The request of a log row, as far as the row shows it: its chain is that of the models whose routes were
 * asked, and the providers that were asked stand first, in the order in which they were. One that no route
 * answered had no others that it might take, or they would have been asked.
 *
 * @param usage what it turns out to use
 * @param kind of its model
 */
export function requestOf(row: WindowRow, usage: Usage, kind: ModelKind): RoutableRequest {
  const asked = row.attempts.map(({ route }) => route);
  const providers = [...new Set(asked.map(providerIn))];
  const last = row.attempts.at(-1);
  const isExhausted = row.outcome === 'failed' && row.firstTokenMs === null && last !== undefined;
  const [first = row.model, ...others] = new Set([...asked.map(modelIn), row.model]);
  const common = {
    models: [first, ...others] as const,
    routing: {
      order: providers,
      only: isExhausted ? providers : undefined,
      ignore: [],
      allowFallbacks: true,
      strategy: 'fallback',
    },
    stream: row.streamed,
    endUser: row.endUser ?? undefined,
    accountBoundParam: undefined,
  } as const;
  const value = { model: first };
  if (kind !== 'chat') {
    return { ...common, kind, body: { value }, ceiling: { ...usage }, estimate: usage };
  }
  return {
    ...common,
    dialect: isDialect(row.endpoint) ? row.endpoint : 'chat',
    body: { bytes: NO_TEXT, value, members: [] },
    choices: 1,
    maxOutputTokens: undefined,
    promptSize: {
      tokens: usage.inputTokens,
      characters: usage.inputTokens * CHARACTERS_PER_TOKEN,
      images: 0,
      pages: 0,
      audioSeconds: 0,
    },
    prompt: () => {
      throw new Error('a log row has no texts');
    },
  };
}

function isDialect(endpoint: string): endpoint is CanonicalRequest['dialect'] {
  return DIALECTS.has(endpoint);
}
