import { randomUUID } from 'node:crypto';
import type { VideoRequest } from '../../../canonical/work-request.js';
import { vendorFields } from '../media/media-fields.js';
import { unsupportedField } from '../media/unsupported-field.js';

/** Files and things in the vendor account. */
const REFUSED: ReadonlySet<string> = new Set([
  'input_reference',
  'image',
  'video',
  'characters',
  'file_id',
  'remix_video_id',
]);
/** What is not a name may not stand in the form's header. */
const NAME = /^[\w.-]{1,64}$/;

export interface EncodedVideoRequest {
  contentType: string;
  body: Buffer;
}

/**
 * A form for `videos`, as the vendor's own client sends it. Fields that the gateway does not know go
 * along: the dialect is the caller's.
 *
 * @throws UpstreamError `unsupported` for a field that cannot be left out without changing the work
 */
export function encodeVideoRequest(
  { body, prompt, seconds }: VideoRequest,
  upstreamModel: string,
): EncodedVideoRequest {
  const fields: [string, unknown][] = [
    ['model', upstreamModel],
    ['prompt', prompt],
  ];
  if (seconds !== undefined) fields.push(['seconds', seconds]);
  for (const [name, value] of vendorFields(body.value)) {
    if (name === 'seconds') continue;
    if (REFUSED.has(name) || !NAME.test(name)) {
      throw unsupportedField(name, `\`${name}\` is not taken here.`);
    }
    if (name === 'n' && value !== 1) throw unsupportedField('n', 'One video is made at a time.');
    if (name !== 'n') fields.push([name, value]);
  }
  const boundary = `gateway-${randomUUID()}`;
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${spell(value)}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  };
}

function spell(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
