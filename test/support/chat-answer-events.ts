import type { CanonicalEvent, SettledEvent } from '../../src/canonical/canonical-event.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import type { BillableRoute } from '../../src/canonical/billable-route.js';

export const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const id = 'chatcmpl-0f8fad5bd9cb469fa16570867728950e';
export const options = { requestId, created: 1_700_000_000, includeUsage: false };
export const route = { model: 'a/b', provider: 'a' } as BillableRoute;
export const opening: CanonicalEvent = { type: 'route', route, droppedParams: [] };
export const settled: SettledEvent = {
  type: 'settled',
  cost: 7,
  usage: {
    ...NO_USAGE,
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 4,
    reasoningTokens: 2,
  },
  usageSource: 'upstream',
};
export const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
export const relay = (fields: object = {}): CanonicalEvent => ({
  type: 'relay',
  dialect: 'chat',
  bytes: Buffer.from('data: {}\n\n'),
  hasContent: true,
  outputCharacters: 1,
  ...fields,
});
