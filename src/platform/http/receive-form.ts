import { createWriteStream, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy, { type Busboy, type FileInfo } from 'busboy';
import { GatewayError, InvalidRequestError } from '../errors/gateway-errors.js';
import { messageOf } from '../errors/thrown.js';
import type { BodyLease, BudgetedRequest } from './body-budget.js';
import type { JsonObject } from './json-body.js';
import { CallerGoneError, answerContinue, throwRestAway } from './read-body.js';
import {
  fieldOf,
  type FilePlaces,
  MAX_FILE_BYTES,
  maxBytesOf,
  refusalOf,
  tooLarge,
  tooMany,
} from './file-places.js';
import { FormFields, type FormShape } from './form-fields.js';
import { UploadPace } from './upload-pace.js';

const MAX_FIELDS = 64;

export interface ReceivedFile {
  field: string;
  path: string;
  sizeBytes: number;
  /** As the caller names it; empty without a name. */
  fileName: string;
}

/** A form and its files on disk, in order. */
interface ReceivedForm {
  fields: JsonObject;
  files: ReceivedFile[];
}

/**
 * Reads a multipart form with one file, in any order of parts, streaming the file to disk. When it throws, the file at
 * `path` may be incomplete, but nothing writes to it any more.
 *
 * @throws InvalidRequestError 400, 408, 413 or 415
 * @throws OverloadedError 503 when there is no space for it
 * @throws CallerGoneError when the upload stops early
 */
export async function receiveUpload(
  request: BudgetedRequest,
  shape: FormShape,
  { field, path, room }: { field: string } & Pick<FilePlaces, 'path' | 'room'>,
): Promise<{ fields: JsonObject; file: ReceivedFile }> {
  const places = { counts: new Map([[field, 1]]), path, room };
  const { fields, files } = await receiveForm(request, shape, places);
  const [file] = files;
  if (file) return { fields, file };
  throw new InvalidRequestError(field, `The form has no \`${field}\`.`);
}

/** Reads a form with any number of files. @param places undefined: no files are accepted */
export async function receiveForm(
  request: BudgetedRequest,
  shape: FormShape,
  places: FilePlaces = { counts: new Map(), path: '' },
): Promise<ReceivedForm> {
  const maxBytes = maxBytesOf(places);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(places);
  const parser = makeParser(request, places);
  if (request.destroyed) throw new CallerGoneError();
  answerContinue(request);
  return new FormReceiver(request, parser, shape, places).receive();
}

/** Returns the first bytes of a received file, or all of a shorter one. */
export async function readHead({ path }: ReceivedFile, bytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

interface Upload {
  readonly file: ReceivedFile;
  readonly writer: WriteStream;
}

class FormReceiver {
  private readonly fields: FormFields;
  private readonly uploads: Upload[] = [];
  private receivedBytes = 0;
  /** The lease on memory for the fields. */
  private lease: BodyLease | undefined;
  private reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly request: BudgetedRequest,
    private readonly parser: Busboy,
    shape: FormShape,
    private readonly places: FilePlaces,
  ) {
    this.fields = new FormFields(shape);
  }

  async receive(): Promise<ReceivedForm> {
    const { request, parser, places } = this;
    const maxBytes = maxBytesOf(places);
    this.lease = request.bodyShare?.lease(request.res);
    const pace = new UploadPace((error) => this.reject(error));
    const onData = (chunk: Buffer): void => {
      pace.note(chunk.length);
      this.receivedBytes += chunk.length;
      if (this.receivedBytes > maxBytes) this.reject(tooLarge(places));
    };
    const onGone = (): void => {
      if (!request.readableEnded) this.reject(new CallerGoneError());
    };
    try {
      await new Promise<void>((resolve, reject) => {
        this.reject = reject;
        this.listen(resolve);
        request.on('data', onData).on('close', onGone).on('error', onGone);
        request.pipe(parser);
      });
      for (const { writer } of this.uploads) if (!writer.closed) await once(writer, 'close');
      const fields = { ...this.fields.read(), ...request.membersOfPath };
      return { fields, files: this.uploads.map(({ file }) => file) };
    } catch (error) {
      await this.stop();
      throw error instanceof GatewayError || error instanceof CallerGoneError
        ? error
        : describe(error);
    } finally {
      pace.stop();
      request.off('data', onData).off('close', onGone).off('error', onGone);
    }
  }

  private listen(resolve: () => void): void {
    const refuse = (param: string, message: string): void =>
      this.reject(new InvalidRequestError(param, message));
    this.parser
      // A part may have an empty name, or none, which the parser tells as undefined against its types; so it does of a
      // value in a charset that it does not know.
      .on('field', (name = '', value: string | undefined, info) => {
        if (this.places.counts.has(fieldOf(name))) {
          return refuse(name, `\`${name}\` must be an uploaded file with a name, not a text.`);
        }
        if (info.nameTruncated || info.valueTruncated) {
          return refuse(name || 'body', `The field \`${name}\` is too long.`);
        }
        if (value === undefined) {
          return refuse(
            name || 'body',
            `The charset of the field \`${name}\` is not supported; send UTF-8.`,
          );
        }
        try {
          this.lease?.add(name.length + value.length);
          this.fields.add(name, value);
        } catch (error) {
          this.reject(error);
        }
      })
      .on('file', (name = '', stream, info) => this.keep(name, stream, info))
      .on('filesLimit', () => this.reject(tooMany(this.places)))
      .on('fieldsLimit', () => refuse('body', 'The form has too many fields.'))
      .on('partsLimit', () => refuse('body', 'The form has too many parts.'))
      .on('error', (error) => this.reject(error))
      .on('close', resolve);
  }

  private keep(name: string, stream: Readable, { filename }: FileInfo): void {
    // The parser reports its end; without a listener it would end the process.
    stream.on('error', () => undefined);
    const { uploads, places } = this;
    const field = fieldOf(name);
    const refusal = refusalOf(
      field,
      uploads.map(({ file }) => file),
      places,
    );
    if (refusal) {
      stream.resume();
      this.reject(refusal);
      return;
    }
    const path = uploads.length === 0 ? places.path : `${places.path}-${uploads.length}`;
    const file: ReceivedFile = { field, path, sizeBytes: 0, fileName: filename ?? '' };
    const writer = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    uploads.push({ file, writer });
    writer.on('error', (error) => this.reject(new FileError(error)));
    stream.on('data', (chunk: Buffer) => {
      file.sizeBytes += chunk.length;
      try {
        places.room?.add(chunk.length);
      } catch (error) {
        this.reject(error);
      }
    });
    stream.on('limit', () => this.reject(tooLarge(places, field)));
    stream.pipe(writer);
  }

  /** Stops reading and waits until the files are closed. */
  private async stop(): Promise<void> {
    const { request, parser, uploads } = this;
    request.unpipe(parser);
    parser.destroy();
    // Drains the rest, so that clients that read only after sending get the answer.
    if (!request.readableEnded) throwRestAway(request);
    for (const { writer } of uploads) {
      if (writer.closed) continue;
      const closed = once(writer, 'close').catch(() => undefined);
      writer.destroy();
      await closed;
    }
  }
}

/** A failure of the local disk. */
class FileError extends Error {
  constructor(cause: Error) {
    super(`An upload could not be stored: ${cause.message}`, { cause });
    this.name = FileError.name;
  }
}

function describe(error: unknown): unknown {
  if (error instanceof FileError) return error;
  const message = messageOf(error);
  return new InvalidRequestError('body', `The form cannot be read: ${message.slice(0, 100)}.`);
}

function makeParser({ headers }: IncomingMessage, { counts }: FilePlaces): Busboy {
  const files = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType)) {
    throw new InvalidRequestError(
      'content-type',
      `Content-Type ${JSON.stringify(contentType.slice(0, 80))} is not supported; send multipart/form-data.`,
      415,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new InvalidRequestError('content-encoding', 'Send the form uncompressed.', 415);
  }
  try {
    return busboy({
      headers,
      defParamCharset: 'utf8',
      limits: {
        fieldNameSize: 200,
        fieldSize: 64 * 1024,
        fields: MAX_FIELDS,
        // One more than allowed, to be rejected by its name.
        files: Math.max(1, files),
        parts: MAX_FIELDS + files + 1,
        headerPairs: 32,
        // The parser reports the limit when reached, and a file of exactly the limit is accepted.
        fileSize: MAX_FILE_BYTES + 1,
      },
    });
  } catch {
    throw new InvalidRequestError('content-type', 'The Content-Type has no usable boundary.');
  }
}
