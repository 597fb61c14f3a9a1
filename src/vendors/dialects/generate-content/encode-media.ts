import type { AudioPart, DocumentPart, ImagePart } from '../../../canonical/canonical-request.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';

/** An image, document or audio in the vendor's format. */
export type MediaPart =
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { mimeType: string; fileUri: string } };

/** Types by file extension: the vendor requires a type for a URL, and only the name is known. */
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
 * @param param the request field with the conversation, for errors
 * @throws UpstreamError `caller` for a URL scheme other than http(s), which could name a file in the
 *   operator's vendor account; `unsupported` when the URL does not show the file's type
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
      message:
        'The URL of a file must start with http:// or https://, or be a data URL with the file itself.',
    });
  }
  const extension = /\.([a-z0-9]{1,5})$/i.exec(url.pathname)?.[1]?.toLowerCase();
  const mimeType = TYPE_OF_EXTENSION.get(extension ?? '');
  if (mimeType === undefined) {
    throw unsupported(
      param,
      'This provider needs the type of a linked file: use a URL that ends in a file name extension such as .png, or send the file as a data URL.',
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
