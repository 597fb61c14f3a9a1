/** Types that say nothing; stores of files are fond of them. */
const UNTYPED = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const TAKEN = /^(?:image\/[\w.+-]+|text\/[\w.+-]+|application\/pdf)$/;

const SIGNATURES: readonly [mediaType: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['application/pdf', 0, '%PDF-'],
];

/**
 * What kind of file a download is: by its `content-type`, or by its first bytes where that says
 * nothing. Undefined for anything but images, PDF and text.
 */
export function readMediaType(
  header: string | string[] | undefined,
  data: Buffer,
): string | undefined {
  const [first = ''] = [header].flat();
  const mediaType = (first.split(';')[0] ?? '').trim().toLowerCase();
  if (!UNTYPED.has(mediaType)) return TAKEN.test(mediaType) ? mediaType : undefined;
  const head = data.subarray(0, 16).toString('latin1');
  return SIGNATURES.find(([, offset, bytes]) => head.startsWith(bytes, offset))?.[0];
}
