/** Fields shared by all generated requests. */
export const SHARED = {
  endpoint: 'chat',
  model: 'vendor/model',
  provider: 'vendor',
  streamed: false,
};

/** Returns the log entry of a successful request for the ledger; `names` are its ids. */
export function completedRequest(names, createdAt) {
  return {
    ...names,
    ...SHARED,
    outcome: 'completed',
    errorType: null,
    finishReason: 'stop',
    trafficMode: 'shared',
    usage: { inputTokens: 10, outputTokens: 5 },
    usageSource: 'upstream',
    billingNote: null,
    latencyMs: 10,
    generationTimeMs: 10,
    createdAt,
  };
}
