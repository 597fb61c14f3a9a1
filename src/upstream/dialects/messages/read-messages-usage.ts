import { isJsonObject, type JsonObject } from '../../../common/http/json-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';

/** No answer of any model comes near; a larger count is a broken one. */
const MAX_TOKENS = 1_000_000_000;

/**
 * Adds up the `usage` objects of one answer: a stream spreads them over its first event and its
 * last ones, and each field that comes again takes the place of what it was.
 */
export class MessagesUsageReader {
  private readonly fields: JsonObject = {};
  private isFinal = false;

  /** @param isFinal whether its output tokens are those of the whole answer */
  add(usage: unknown, { isFinal }: { isFinal: boolean }): void {
    if (!isJsonObject(usage)) return;
    for (const [key, value] of Object.entries(usage)) {
      if (value != null) this.fields[key] = value;
    }
    if (isFinal && readCount(usage.output_tokens) !== undefined) this.isFinal = true;
  }

  /**
   * What the answer used, with cached tokens counted among the input's.
   *
   * @returns undefined while the output is not counted, or when nothing is
   */
  read(): Usage | undefined {
    const { fields } = this;
    const plainTokens = readCount(fields.input_tokens) ?? 0;
    const outputTokens = readCount(fields.output_tokens);
    const cacheReadTokens = readCount(fields.cache_read_input_tokens) ?? 0;
    const { total, long } = readCacheWrites(fields);
    const inputTokens = plainTokens + cacheReadTokens + total;
    if (!this.isFinal || outputTokens === undefined) return undefined;
    if (inputTokens + outputTokens === 0) return undefined;
    const details = isJsonObject(fields.output_tokens_details) ? fields.output_tokens_details : {};
    const tools = isJsonObject(fields.server_tool_use) ? fields.server_tool_use : {};
    return {
      ...NO_USAGE,
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens: total,
      cacheWriteLongTokens: long,
      reasoningTokens: Math.min(readCount(details.thinking_tokens) ?? 0, outputTokens),
      webSearches: readCount(tools.web_search_requests) ?? 0,
    };
  }
}

function readCacheWrites(fields: JsonObject): { total: number; long: number } {
  const parts = isJsonObject(fields.cache_creation) ? fields.cache_creation : {};
  const long = readCount(parts.ephemeral_1h_input_tokens) ?? 0;
  const short = readCount(parts.ephemeral_5m_input_tokens) ?? 0;
  const total = readCount(fields.cache_creation_input_tokens) ?? long + short;
  return { total, long: Math.min(long, total) };
}

function readCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
    ? (value as number)
    : undefined;
}
