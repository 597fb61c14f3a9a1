import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { CanonicalPrompt, MessagePart } from '../../canonical/canonical-request.js';
import type { FetchedMedia, MediaFetcher } from '../transport/media-fetcher.js';
import { UpstreamError } from '../upstream-error.js';

/** Downloaded media of a prompt, by URL. */
export type PromptMedia = ReadonlyMap<string, FetchedMedia>;

/** More than any vendor accepts in one request; each costs a call. */
const MAX_URLS = 20;
const MAX_TOTAL_BYTES = 25 * 1024 * 1024;
const AT_ONCE = 4;

/**
 * Fetches every image and document that a prompt references by URL, each once, a few at a time and
 * within one shared memory limit.
 *
 * @param param the request field with the conversation, for errors
 * @throws UpstreamError `caller` when one of them cannot be fetched
 */
export async function fetchPromptMedia(
  { messages }: Pick<CanonicalPrompt, 'messages'>,
  fetcher: Pick<MediaFetcher, 'fetch'>,
  { signal, param }: { signal: CancelSignal; param: string },
): Promise<PromptMedia> {
  const urls = [...new Set(messages.flatMap(({ parts }) => parts.flatMap(urlsOf)))];
  const media = new Map<string, FetchedMedia>();
  if (urls.length === 0) return media;
  if (urls.length > MAX_URLS) {
    const message = `At most ${MAX_URLS} images and documents can be sent as URLs; send the others inline.`;
    throw new UpstreamError({ failure: 'caller', param, message });
  }
  let leftBytes = MAX_TOTAL_BYTES;
  while (urls.length > 0) {
    const batch = urls.splice(0, AT_ONCE);
    const maxBytes = Math.floor(leftBytes / batch.length);
    const fetched = await Promise.all(
      batch.map((url) => fetcher.fetch(url, { signal, param, maxBytes })),
    );
    for (const [index, file] of fetched.entries()) {
      media.set(batch[index]!, file);
      leftBytes -= file.data.length;
    }
  }
  return media;
}

function urlsOf(part: MessagePart): string[] {
  if (part.type === 'tool_result') return part.parts.flatMap(urlsOf);
  if (part.type !== 'image' && part.type !== 'document') return [];
  return part.source.kind === 'url' ? [part.source.url] : [];
}
