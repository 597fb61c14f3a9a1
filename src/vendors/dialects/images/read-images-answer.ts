import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../unreadable.js';
import { parseChatObject } from '../chat/parse-chat-object.js';
import { readTokenCount } from '../read-token-count.js';

/** A picture in the answer, or where it lies. */
export type GivenImage = { base64: string } | { url: string };

export interface ImagesAnswer {
  images: GivenImage[];
  usage: Usage;
}

/**
 * The pictures of an answer, at least one.
 *
 * @throws UpstreamError `unreadable`
 */
export function readImagesAnswer(bytes: Buffer): ImagesAnswer {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer with pictures');
  const data: unknown[] = Array.isArray(answer.data) ? answer.data : [];
  const images = data.map(readImage);
  if (images.length === 0) throw unreadable('an answer without pictures');
  return { images, usage: { ...readTokens(answer.usage), imageCount: images.length } };
}

function readImage(item: unknown): GivenImage {
  const { b64_json: base64, url } = isJsonObject(item) ? item : ({} as JsonObject);
  if (typeof base64 === 'string' && base64 !== '') return { base64 };
  if (typeof url !== 'string' || url === '') throw unreadable('a picture without its bytes');
  const inline = /^data:[^,]{0,100};base64,/.exec(url)?.[0];
  return inline === undefined ? { url } : { base64: url.slice(inline.length) };
}

/** Text and image tokens together, for catalogues that price a picture by its tokens. */
function readTokens(usage: unknown): Usage {
  if (!isJsonObject(usage)) return NO_USAGE;
  const inputTokens = readTokenCount(usage.input_tokens);
  const outputTokens = readTokenCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return NO_USAGE;
  return { ...NO_USAGE, inputTokens, outputTokens };
}
