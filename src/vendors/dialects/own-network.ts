import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { conversationField } from '../../canonical/prompt-fields.js';
import type { MediaFetcher } from '../transport/media-fetcher.js';
import { unsupported } from '../upstream-error.js';
import { listOf, objectOf } from './answer-json.js';

/** Each may have a name looked up. */
const MAX_URLS = 100;
/** `image_url`, `file_url`, `url`: a place, or an object that names it. */
const PLACE = /url$/i;
const IS_SENT = /^data:/i;

/**
 * The answer of a server that stands in the operator's own network, where it fetches what a prompt names by
 * its address: only after a look at where these lead, so that no caller has it read what is not public.
 *
 * @param fetcher absent: nothing can be said of addresses, and none is taken
 * @param answer asks the server
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
      `At most ${MAX_URLS} media can be given by address; send them inline.`,
    );
  }
  await Promise.all([...urls].map((url) => fetcher.assertPublic(url, param)));
  yield* answer();
}

/** Of parts of any type and dialect, as the server may know more of them than the gateway does. */
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
