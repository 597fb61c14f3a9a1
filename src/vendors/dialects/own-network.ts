import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { conversationField } from '../../canonical/prompt-fields.js';
import type { MediaFetcher } from '../transport/media-fetcher.js';
import { unsupported } from '../upstream-error.js';
import { listOf, objectOf } from './answer-json.js';

/** Each may need a DNS lookup. */
const MAX_URLS = 100;
/** `image_url`, `file_url`, `url`: a URL, or an object that contains it. */
const PLACE = /url$/i;
const IS_SENT = /^data:/i;

/**
 * Wraps the answer of a server in the operator's own network that fetches URLs from prompts. It is called
 * only after these URLs are known to be public, so that callers cannot make it read internal addresses.
 *
 * @param fetcher undefined: URLs cannot be checked, and none is accepted
 * @param answer calls the server
 * @returns events that throw UpstreamError `caller` or `unsupported` instead
 */
export function withinNetwork(
  request: CanonicalRequest,
  fetcher: Pick<MediaFetcher, 'assertPublic'> | undefined,
  answer: () => AsyncIterable<CanonicalEvent>,
): AsyncIterable<CanonicalEvent> {
  const urls = new Set(urlsOf(request));
  return urls.size === 0 ? answer() : afterLook(urls, request, fetcher, answer);
}

async function* afterLook(
  urls: ReadonlySet<string>,
  { dialect }: CanonicalRequest,
  fetcher: Pick<MediaFetcher, 'assertPublic'> | undefined,
  answer: () => AsyncIterable<CanonicalEvent>,
): AsyncGenerator<CanonicalEvent> {
  const param = conversationField(dialect);
  if (!fetcher || urls.size > MAX_URLS) {
    throw unsupported(
      param,
      `At most ${MAX_URLS} media can be sent as URLs; send the others inline.`,
    );
  }
  await Promise.all([...urls].map((url) => fetcher.assertPublic(url, param)));
  yield* answer();
}

/** Collects URLs from parts of any type and dialect, because the server may support more than the gateway. */
function urlsOf({ body: { value } }: CanonicalRequest): string[] {
  const messages = [...listOf(value.messages), ...listOf(value.input)].map(objectOf);
  return messages
    .flatMap(({ content, output }) => [...listOf(content), ...listOf(output)])
    .flatMap((part) => [part, ...listOf(objectOf(part).content)])
    .flatMap(placesIn)
    .filter((url) => !IS_SENT.test(url));
}

function placesIn(part: unknown): string[] {
  return Object.entries(objectOf(part)).flatMap(([name, value]) => {
    if (typeof value === 'string') return PLACE.test(name) ? [value] : [];
    if (!PLACE.test(name) && name !== 'source') return [];
    const inner = Object.entries(objectOf(value)).filter(([each]) => PLACE.test(each));
    return inner.map(([, place]) => place).filter((place) => typeof place === 'string');
  });
}
