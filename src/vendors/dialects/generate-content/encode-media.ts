import type { AudioPart, DocumentPart, ImagePart } from '../../../canonical/canonical-request.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';

/** A picture, document or sound as the vendor takes it. */
export type MediaPart =
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { mimeType: string; fileUri: string } };

/** What the vendor is told of a file it is to fetch; it insists on a type and we know only the name. */
const TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['webm', 'video/webm'],
]);

/**
 * @param param the request's field that holds the conversation, for errors
 * @throws UpstreamError `caller` for a URL of another scheme than http(s), which would name a file in
 *   the operator's vendor account; `unsupported` where the file's type can't be told from its URL
 */
export function encodeMedia({ source }: ImagePart | DocumentPart, param: string): MediaPart {
  if (source.kind === 'inline') {
    return { inlineData: { mimeType: source.mediaType, data: source.data } };
  }
  const url = parseUrl(source.url);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new UpstreamError({
      failure: 'caller',
      param,
      message: 'The URL of a file must begin with http:// or https://, or hold the file itself.',
    });
  }
  const extension = /\.([a-z0-9]{1,5})$/i.exec(url.pathname)?.[1]?.toLowerCase();
  const mimeType = TYPE_OF_EXTENSION.get(extension ?? '');
  if (mimeType === undefined) {
    throw unsupported(
      param,
      'This provider needs to know the type of a file behind a URL: use a URL that ends in a file name extension such as .png, or send the file itself as a data URL.',
    );
  }
  return { fileData: { mimeType, fileUri: source.url } };
}

export function encodeAudio({ data, format }: AudioPart): MediaPart {
  return { inlineData: { mimeType: `audio/${format.toLowerCase()}`, data } };
}

function parseUrl(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
