import type { DocumentPart, ImagePart, MediaSource } from '../../../canonical/canonical-request.js';
import { UpstreamError } from '../../upstream-error.js';

const IMAGE_TYPES: Record<string, string> = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
};

/** Types that are text, whatever their name says. */
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|javascript)$)/;

/** @throws UpstreamError `unsupported` for a kind of picture that the dialect has no place for */
export function encodeImage({ source }: ImagePart): object {
  if (source.kind === 'url') return { type: 'image', source: encodeUrl(source) };
  const mediaType = IMAGE_TYPES[source.mediaType];
  if (mediaType === undefined) throw unsupportedType(source.mediaType);
  return {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: source.data },
  };
}

/** @throws UpstreamError `unsupported` for anything but a PDF or text */
export function encodeDocument({ source, filename }: DocumentPart): object {
  return {
    type: 'document',
    source: encodeDocumentSource(source),
    ...(filename !== undefined && filename.trim() !== '' && { title: filename }),
  };
}

function encodeDocumentSource(source: MediaSource): object {
  if (source.kind === 'url') return encodeUrl(source);
  const { mediaType, data } = source;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (!TEXT_TYPES.test(mediaType)) throw unsupportedType(mediaType);
  const text = Buffer.from(data, 'base64').toString('utf8');
  return { type: 'text', media_type: 'text/plain', data: text };
}

/** The vendor fetches it, over https only. */
function encodeUrl({ url }: { url: string }): object {
  if (/^https:/i.test(url)) return { type: 'url', url };
  throw new UpstreamError({
    failure: 'unsupported',
    message: 'This model takes images and documents inline or from https addresses only.',
    param: 'messages',
  });
}

function unsupportedType(mediaType: string): UpstreamError {
  return new UpstreamError({
    failure: 'unsupported',
    message: `This model cannot read ${JSON.stringify(mediaType.slice(0, 80))}.`,
    param: 'messages',
  });
}
