import { chatModel, modelRoute } from './catalogue-models.js';
import { chatRequest } from './chat-requests.js';
import type { ByokAccess } from '../../src/core/credentials/byok-upstreams.service.js';
import type { RoutingState } from '../../src/core/routing/routing-state.js';
import { selectRoutes } from '../../src/core/routing/select-routes.js';

export const LIMITS = {
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: undefined,
  idleTimeoutMs: 60_000,
  requestTimeoutMs: 600_000,
  cooldownMs: 30_000,
};

export const NOTHING_PARTICULAR: RoutingState = {
  isConfigured: () => true,
  vendorOf: () => ({}),
  isCooling: () => false,
  isPaused: () => false,
  speedOf: () => undefined,
  wholeLatencyMs: () => undefined,
  isToBeMeasured: () => false,
  limits: LIMITS,
  byokFeePercent: 5,
  byok: [],
};

export const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
export const claude = chatModel('anthropic/claude', [
  modelRoute('anthropic'),
  modelRoute('bedrock'),
  modelRoute('vertex'),
]);

export interface Situation {
  unconfigured?: string[];
  cooling?: string[];
  paused?: string[];
  latencies?: Record<string, number>;
  limits?: Partial<RoutingState['limits']>;
  byok?: ByokAccess[];
}

export function select(
  fields: Record<string, unknown> = {},
  {
    unconfigured = [],
    cooling = [],
    paused = [],
    latencies = {},
    limits,
    byok = [],
  }: Situation = {},
  models = [gpt, claude],
) {
  return selectRoutes(chatRequest(fields), models, {
    isConfigured: (provider) => !unconfigured.includes(provider),
    vendorOf: () => ({}),
    isCooling: ({ provider }) => cooling.includes(provider),
    isPaused: ({ provider }) => paused.includes(provider),
    speedOf: () => undefined,
    wholeLatencyMs: ({ provider }) => latencies[provider],
    isToBeMeasured: () => false,
    limits: { ...LIMITS, ...limits },
    byokFeePercent: 5,
    byok,
  });
}
