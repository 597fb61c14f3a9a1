/** What each of the requests that are made up here is of. */
export const SHARED = {
  endpoint: 'chat',
  model: 'vendor/model',
  provider: 'vendor',
  streamed: false,
};

/** What the ledger is told for the log of one that succeeded; `names` are those of its ids. */
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
