import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/** One token in the chat dialect's shape. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs?: TokenLogprob[];
}

/** What the chat dialect calls a token that is all but impossible. */
const LEAST_LOGPROB = -9999;

/** Reads `logprobsResult` into the chat dialect's shape; undefined where there are no tokens. */
export function readLogprobs(value: unknown): { content: TokenLogprob[] } | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.chosenCandidates)) return undefined;
  const tops: unknown[] = Array.isArray(value.topCandidates) ? value.topCandidates : [];
  const content = (value.chosenCandidates as unknown[]).flatMap((chosen, index) => {
    if (!isJsonObject(chosen)) return [];
    const top = tops[index];
    const candidates = isJsonObject(top) && Array.isArray(top.candidates) ? top.candidates : [];
    return [{ ...readToken(chosen), top_logprobs: candidates.filter(isJsonObject).map(readToken) }];
  });
  return content.length > 0 ? { content } : undefined;
}

function readToken({ token, logProbability }: JsonObject): TokenLogprob {
  const text = typeof token === 'string' ? token : '';
  // A zero is left out of the vendor's JSON: the token was certain.
  const logprob = logProbability == null ? 0 : Number(logProbability);
  return {
    token: text,
    logprob: Number.isFinite(logprob) ? logprob : LEAST_LOGPROB,
    bytes: [...Buffer.from(text)],
  };
}
