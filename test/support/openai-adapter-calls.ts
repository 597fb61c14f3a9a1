import { chatRequest } from './chat-requests.js';
import { drivenTransport, type Drive } from './driven-transport.js';
import { LONG_LIMITS } from './fake-connection.js';
import type { CanonicalRequest } from '../../src/canonical/canonical-request.js';
import type { ProviderConfig } from '../../src/platform/config/app-config.js';
import { OpenAiAdapter } from '../../src/vendors/openai/openai.adapter.js';

export const provider = {
  id: 'openai',
  name: 'OpenAI',
  adapter: 'openai',
  type: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  apiKey: 'secret-key-of-no-known-shape' as string | undefined,
  settings: {},
} as const;

export const answer = {
  id: 'x',
  model: 'gpt',
  choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
};
export const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', model: 'gpt', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

export const ROUTE = { upstreamModel: 'gpt-4o-mini', maxOutputTokens: 4_096 };

export function generate(
  drive: Drive,
  fields: Record<string, unknown> = {},
  overrides: Partial<ProviderConfig> & { signal?: AbortSignal; request?: CanonicalRequest } = {},
) {
  const { transport, calls, connections } = drivenTransport(drive);
  const { signal = new AbortController().signal, request, ...rest } = overrides;
  const adapter = new OpenAiAdapter({ ...provider, ...rest }, transport);
  const events = adapter.generate({
    request: request ?? chatRequest(fields),
    alias: 'openai/gpt-4o',
    upstreamModel: 'gpt-4o-mini',
    limits: LONG_LIMITS,
    maxOutputTokens: 4_096,
    signal,
  });
  return { events, calls, connections };
}

export const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
