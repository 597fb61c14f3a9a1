import { readRequestOptions, type RequestOptions } from '../../canonical/request-options.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { isJsonObject } from '../../platform/http/json-body.js';

/** Usage counts without a column of their own, by their names in the log. */
const OTHER_COUNTS = {
  cacheWriteLongTokens: 'cache_write_1h_tokens',
  webSearches: 'web_searches',
  inputCharacters: 'input_characters',
  inputBytes: 'input_bytes',
  audioMs: 'audio_ms',
  imageCount: 'images',
  videoSeconds: 'video_seconds',
} as const satisfies Partial<Record<keyof Usage, string>>;

export type OtherUsage = Pick<Usage, keyof typeof OTHER_COUNTS>;

const COUNTS = Object.entries(OTHER_COUNTS) as [keyof OtherUsage, string][];

/**
 * Encodes usage without a column of its own as JSON: nonzero counts, and the request options as
 * `asked`. Null when empty, as for most answers.
 */
export function otherUsageText(usage: OtherUsage, requestOptions?: RequestOptions): string | null {
  const { cacheWriteLongTokens, webSearches, inputBytes, audioMs, imageCount, videoSeconds } =
    usage;
  if (!(cacheWriteLongTokens || webSearches || usage.inputCharacters || inputBytes)) {
    if (!(audioMs || imageCount || videoSeconds)) {
      return requestOptions === undefined ? null : JSON.stringify({ asked: requestOptions });
    }
  }
  const used = COUNTS.filter(([key]) => usage[key] > 0);
  const counts = Object.fromEntries(used.map(([key, name]) => [name, usage[key]]));
  return JSON.stringify(
    requestOptions === undefined ? counts : { ...counts, asked: requestOptions },
  );
}

/** Returns the request options; undefined without any, and in rows that predate them. */
export function requestOptionsIn(text: string | null): RequestOptions | undefined {
  // Most have counts alone, or nothing.
  if (text === null || !text.includes('"asked"')) return undefined;
  const read: unknown = JSON.parse(text);
  return isJsonObject(read) ? readRequestOptions(read.asked) : undefined;
}

export function readOtherUsage(text: string | null): OtherUsage {
  const read: unknown = text === null ? {} : JSON.parse(text);
  const counts: Record<keyof OtherUsage, number> = { ...NO_USAGE };
  for (const [key, name] of COUNTS) {
    const count = isJsonObject(read) ? read[name] : 0;
    counts[key] = typeof count === 'number' ? count : 0;
  }
  return counts;
}
