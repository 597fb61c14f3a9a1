import { TOKENS_PER_SEARCH, type CanonicalRequest } from '../../canonical/canonical-request.js';
import type { OutputLimit } from '../../canonical/billable-route.js';
import { pricingOf, type PricedWork } from '../../canonical/exact-pricing.js';
import { promptTokensOf } from '../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { Model } from '../catalogue/catalogue.types.js';

/** Output tokens reserved when the caller sets no limit. */
const LEAST_OUTPUT_TOKENS = 4_096;
/** Room left for an answer when the prompt's upper bound fills the context. */
const LEAST_FITTING_TOKENS = 1_024;

/**
 * The most that a text request can use on one route of a model, and how long its answers may get.
 */
export interface TextCeiling {
  ceiling: Usage;
  output: OutputLimit;
}

/** Returns the minimum reservation; the hold raises the output as far as credits allow. */
export function textCeilingOf(
  request: CanonicalRequest,
  model: Model,
  route: PricedWork,
): TextCeiling {
  const { maxOutputTokens, predictedTokens = 0, choices, promptSize, webSearch } = request;
  const { context_length: context, max_completion_tokens: longest } = model;
  const webSearches = webSearch?.most ?? 0;
  const prompt = promptTokensOf(promptSize, model.media_tokens);
  const found = webSearches * TOKENS_PER_SEARCH;
  // Media estimates are high, so the context caps them; text is counted.
  const lastReading = Math.max(promptSize.tokens, Math.min(prompt + found, context));
  // Each search is followed by another reading of the prompt.
  const readings = Math.min(prompt * (1 + webSearches) + found, context * (1 + webSearches));
  const inputTokens = webSearches === 0 ? lastReading : Math.max(lastReading, readings);

  const pricing = pricingOf(route, { inputTokens });
  const isOpen = maxOutputTokens === undefined;
  // Rejected predictions are billed on top of the output.
  const most = isOpen ? (longest ?? context) : maxOutputTokens + predictedTokens;
  const least = isOpen ? Math.min(LEAST_OUTPUT_TOKENS + predictedTokens, most) : most;
  const output: OutputLimit = {
    choices,
    least,
    most,
    fitting: Math.max(context - lastReading, LEAST_FITTING_TOKENS),
    tokens: maxOutputTokens ?? least,
    isShort: false,
  };
  const ceiling: Usage = { ...NO_USAGE, inputTokens, outputTokens: least * choices, webSearches };
  // Where cache writes are billed, the whole prompt may be written.
  if (pricing.cacheWrite > pricing.prompt) ceiling.cacheWriteTokens = inputTokens;
  const hasLongCache = pricing.cacheWriteLong > pricing.cacheWrite && asksForLongCache(request);
  if (hasLongCache) ceiling.cacheWriteTokens = ceiling.cacheWriteLongTokens = inputTokens;
  if (pricing.reasoning > pricing.completion) ceiling.reasoningTokens = ceiling.outputTokens;
  return { ceiling, output };
}

/**
 * Returns whether the request may ask for the longer cache TTL, `"ttl": "1h"`, anywhere and in any
 * JSON escape.
 */
function asksForLongCache({ body: { bytes } }: CanonicalRequest): boolean {
  return bytes.includes('1h"') || bytes.includes(String.raw`\u0068"`);
}
