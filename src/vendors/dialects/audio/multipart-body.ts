import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { UploadedAudio } from '../../../canonical/work-request.js';

/** A form as it goes to a vendor: its length is known, its file is read as it is sent. */
export interface MultipartBody {
  headers: { 'content-type': string; 'content-length': string };
  stream: Readable;
}

/**
 * A multipart form with fields and one uploaded file. The file is opened by the first read and
 * closed however the reading ends.
 *
 * @param fields name and value, in order; names may repeat
 */
export function multipartBody(
  fields: readonly (readonly [string, string])[],
  fileField: string,
  audio: UploadedAudio,
): MultipartBody {
  const boundary = `gateway-${randomUUID()}`;
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"\r\n\r\n${value}\r\n`,
  );
  head.push(
    `--${boundary}\r\ncontent-disposition: form-data; name="${fileField}"; filename="${quote(audio.fileName)}"\r\n` +
      `content-type: ${audio.contentType}\r\n\r\n`,
  );
  const before = Buffer.from(head.join(''));
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(before.length + audio.sizeBytes + after.length),
    },
    stream: Readable.from(pieces(before, audio.path, after), { objectMode: false }),
  };
}

async function* pieces(before: Buffer, path: string, after: Buffer): AsyncGenerator<Buffer> {
  yield before;
  yield* createReadStream(path) as AsyncIterable<Buffer>;
  yield after;
}

/** As browsers write names into the header: nothing in them ends the quotation or the line. */
function quote(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
