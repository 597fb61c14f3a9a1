import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { UploadedFile } from '../../canonical/work-request.js';

/** A form or file to send: its length is known, and files are read while sending. */
export interface MultipartBody {
  headers: { 'content-type': string; 'content-length': string };
  stream: Readable;
}

/**
 * Builds a multipart form with fields and uploaded files. Each file is opened when its part is sent and
 * closed however sending ends.
 *
 * @param fields name and value, in order; names may repeat; values other than strings become JSON
 * @param files field name and file, in order; names may repeat
 */
export function multipartBody(
  fields: readonly (readonly [string, unknown])[],
  files: readonly (readonly [string, UploadedFile])[] = [],
): MultipartBody {
  const boundary = `gateway-${randomUUID()}`;
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"\r\n\r\n${toText(value)}\r\n`,
  );
  const parts: (Buffer | UploadedFile)[] = [Buffer.from(head.join(''))];
  for (const [name, file] of files) {
    const frame =
      `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"; filename="${quote(file.fileName)}"\r\n` +
      `content-type: ${file.contentType}\r\n\r\n`;
    parts.push(Buffer.from(frame), file, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  const length = parts.reduce(
    (sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.sizeBytes),
    0,
  );
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
    stream: Readable.from(pieces(parts), { objectMode: false }),
  };
}

/** Returns a body that consists of a file alone. */
export function fileBody(file: UploadedFile): MultipartBody {
  return {
    headers: { 'content-type': file.contentType, 'content-length': String(file.sizeBytes) },
    stream: Readable.from(pieces([file]), { objectMode: false }),
  };
}

async function* pieces(parts: readonly (Buffer | UploadedFile)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      yield part;
      continue;
    }
    const file: AsyncIterable<Buffer> = createReadStream(part.path);
    yield* file;
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Escapes names in headers the way browsers do: nothing in them ends the quotes or the line. */
function quote(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
