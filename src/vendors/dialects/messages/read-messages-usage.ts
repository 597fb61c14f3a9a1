import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { codePointsOf, readTokenCount, objectOf } from '../answer-json.js';
import { countCodePoints } from '../../../canonical/prompt-size.js';

/** The known fields of a `usage` object. */
const FIELDS = [
  ...['input_tokens', 'output_tokens', 'output_tokens_details', 'cache_read_input_tokens'],
  ...['cache_creation_input_tokens', 'cache_creation', 'server_tool_use'],
  ...['service_tier', 'inference_geo'],
] as const;

/**
 * Combines the `usage` objects of one answer. A stream spreads them over its first and last events; later
 * values of a field replace earlier ones.
 */
export class MessagesUsageReader {
  private readonly fields: JsonObject = {};
  private isFinal = false;
  private searches = 0;

  /** Counts a search that has begun, until the vendor reports the total. */
  addSearch(): void {
    this.searches++;
  }

  /** @param isFinal whether its output tokens are those of the whole answer */
  add(usage: unknown, { isFinal }: { isFinal: boolean }): void {
    if (!isJsonObject(usage)) return;
    for (const key of FIELDS) {
      const value = usage[key];
      if (value != null) this.fields[key] = value;
    }
    if (isFinal && readTokenCount(usage.output_tokens) !== undefined) this.isFinal = true;
  }

  /**
   * Returns the answer's usage, with cached tokens included in the input.
   *
   * @returns undefined while the output is not counted, or when all counts are zero
   */
  read(): Usage | undefined {
    return this.isFinal ? this.readSoFar() : undefined;
  }

  /** Returns the usage reported so far, before the output is counted. */
  readSoFar(): Usage | undefined {
    const { fields } = this;
    const plainTokens = readTokenCount(fields.input_tokens) ?? 0;
    const outputTokens = readTokenCount(fields.output_tokens) ?? 0;
    const cacheReadTokens = readTokenCount(fields.cache_read_input_tokens) ?? 0;
    const { total, long } = readCacheWrites(fields);
    const inputTokens = plainTokens + cacheReadTokens + total;
    const webSearches = this.readSearches();
    if (inputTokens + outputTokens + webSearches === 0) return undefined;
    const details = objectOf(fields.output_tokens_details);
    const usage: Usage = {
      ...NO_USAGE,
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens: total,
      cacheWriteLongTokens: long,
      reasoningTokens: Math.min(readTokenCount(details.thinking_tokens) ?? 0, outputTokens),
      webSearches,
    };
    const { service_tier: tier, inference_geo: region } = fields;
    if (typeof tier === 'string') usage.servedTier = tier;
    if (typeof region === 'string') usage.servedRegion = region;
    return usage;
  }

  private readSearches(): number {
    const counted = readTokenCount(objectOf(this.fields.server_tool_use).web_search_requests);
    return this.isFinal && counted !== undefined ? counted : Math.max(this.searches, counted ?? 0);
  }
}

function readCacheWrites(fields: JsonObject): { total: number; long: number } {
  const parts = objectOf(fields.cache_creation);
  const long = readTokenCount(parts.ephemeral_1h_input_tokens) ?? 0;
  const short = readTokenCount(parts.ephemeral_5m_input_tokens) ?? 0;
  const total = readTokenCount(fields.cache_creation_input_tokens) ?? long + short;
  return { total, long: Math.min(long, total) };
}

/** Returns whether a content block is a search that the vendor runs. */
export function isSearch({ type, name }: JsonObject): boolean {
  return type === 'server_tool_use' && name === 'web_search';
}

/**
 * Counts the code points of a content block: text, reasoning, and the names and arguments of calls, like
 * the canonical events of the same block.
 */
export function measureBlock(block: JsonObject): number {
  switch (block.type) {
    case 'text':
      return codePointsOf(block.text);
    case 'thinking':
      return codePointsOf(block.thinking);
    case 'tool_use':
      return codePointsOf(block.name) + measureInput(block.input);
    default:
      return 0;
  }
}

/** Counts the code points of a delta. */
export function measureDelta(delta: JsonObject): number {
  switch (delta.type) {
    case 'text_delta':
      return codePointsOf(delta.text);
    case 'thinking_delta':
      return codePointsOf(delta.thinking);
    case 'input_json_delta':
      return codePointsOf(delta.partial_json);
    default:
      return 0;
  }
}

/** Skips the empty input at the start of a streamed call, whose pieces follow. */
function measureInput(input: unknown): number {
  if (!isJsonObject(input) || Object.keys(input).length === 0) return 0;
  return countCodePoints(JSON.stringify(input));
}
