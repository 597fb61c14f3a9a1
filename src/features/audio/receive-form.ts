import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy, { type Busboy, type FileInfo } from 'busboy';
import { GatewayError, InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { CallerGoneError, answerContinue } from '../../platform/http/read-body.js';
import { FormFields } from './form-fields.js';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../../platform/time/coarse-timer.js';
import { messageOf } from '../../platform/errors/thrown.js';

/** A sender gets this long for nothing … */
const PATIENCE_MS = 10_000;

/** … and after it has to have kept up this rate since the start. */
const MIN_BYTES_PER_SECOND = 8_192;

const CHECK_EVERY_MS = 2_500;

const timer = new CoarseTimer();

/** Watches that an upload does not drip in for hours. */
class UploadPace implements Watched {
  private readonly startedMs = performance.now();
  private received = 0;
  watchIndex = NOT_WATCHED;
  deadlineMs = this.startedMs + PATIENCE_MS;

  constructor(private readonly onTooSlow: (error: InvalidRequestError) => void) {
    timer.watch(this);
  }

  note(bytes: number): void {
    this.received += bytes;
  }

  stop(): void {
    timer.unwatch(this);
  }

  onDeadline(): void {
    const nowMs = performance.now();
    if (this.received < ((nowMs - this.startedMs) / 1000) * MIN_BYTES_PER_SECOND) {
      this.onTooSlow(
        new InvalidRequestError('body', 'The body arrived too slowly; send it again.', 408),
      );
      return;
    }
    this.deadlineMs = nowMs + CHECK_EVERY_MS;
    timer.watch(this);
  }
}

/** The interface's limit on uploads: 25 MB. */
const MAX_FILE_BYTES = 25_000_000;
/** What the form may hold besides: its fields, and the frame of its parts. */
const MAX_OTHER_BYTES = 1_000_000;
const FILE_FIELD = 'file';

/** A form with its one file in a file of ours. */
interface ReceivedForm {
  fields: JsonObject;
  file: ReceivedFile;
}

export interface ReceivedFile {
  path: string;
  sizeBytes: number;
  /** As the caller calls it; empty where it has no name. */
  fileName: string;
}

/**
 * Reads a multipart form whose parts may come in any order, its file straight to disk. When it
 * throws, the file at `path` is complete or not, but nobody writes to it any more.
 *
 * @param path a file that does not exist yet
 * @throws InvalidRequestError 400, 408, 413 or 415
 * @throws CallerGoneError when the upload stops half-way
 */
export async function receiveForm(request: IncomingMessage, path: string): Promise<ReceivedForm> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + MAX_OTHER_BYTES) {
    throw tooLarge();
  }
  const parser = makeParser(request);
  if (request.destroyed) throw new CallerGoneError();
  answerContinue(request);
  return new FormReceiver(request, parser, path).receive();
}

class FormReceiver {
  private readonly fields = new FormFields();
  private writer: WriteStream | undefined;
  private sizeBytes = 0;
  private receivedBytes = 0;
  private fileName = '';
  private reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly parser: Busboy,
    private readonly path: string,
  ) {}

  async receive(): Promise<ReceivedForm> {
    const { request, parser } = this;
    const pace = new UploadPace((error) => this.reject(error));
    const onData = (chunk: Buffer): void => {
      pace.note(chunk.length);
      this.receivedBytes += chunk.length;
      if (this.receivedBytes > MAX_FILE_BYTES + MAX_OTHER_BYTES) this.reject(tooLarge());
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
      const { writer, sizeBytes, fileName, path } = this;
      if (!writer) throw new InvalidRequestError(FILE_FIELD, 'The form has no `file`.');
      if (!writer.closed) await once(writer, 'close');
      return { fields: this.fields.read(), file: { path, sizeBytes, fileName } };
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
      .on('field', (name, value, info) => {
        if (name === FILE_FIELD) {
          return refuse(FILE_FIELD, '`file` must be an uploaded file with a name, not a text.');
        }
        if (info.nameTruncated || info.valueTruncated) {
          return refuse(name, `The field \`${name}\` is too long.`);
        }
        try {
          this.fields.add(name, value);
        } catch (error) {
          this.reject(error);
        }
      })
      .on('file', (name, stream, info) => this.keep(name, stream, info))
      .on('filesLimit', () => refuse(FILE_FIELD, 'The form may hold one file only.'))
      .on('fieldsLimit', () => refuse('body', 'The form has too many fields.'))
      .on('partsLimit', () => refuse('body', 'The form has too many parts.'))
      .on('error', (error) => this.reject(error))
      .on('close', resolve);
  }

  private keep(name: string, stream: Readable, { filename }: FileInfo): void {
    // Its end is told by the parser's own; without a listener it would end the process.
    stream.on('error', () => undefined);
    if (name !== FILE_FIELD) {
      stream.resume();
      this.reject(
        new InvalidRequestError(name.slice(0, 100) || 'body', 'The only file taken is `file`.'),
      );
      return;
    }
    this.fileName = filename ?? '';
    this.writer = createWriteStream(this.path, { flags: 'wx', mode: 0o600 });
    this.writer.on('error', (error) => this.reject(new FileError(error)));
    stream.on('data', (chunk: Buffer) => (this.sizeBytes += chunk.length));
    stream.on('limit', () => this.reject(tooLarge()));
    stream.pipe(this.writer);
  }

  /** Reads no further, and waits until the file is let go of. */
  private async stop(): Promise<void> {
    const { request, parser, writer } = this;
    request.unpipe(parser);
    parser.destroy();
    // What is still to come is thrown away, so that a sender who only reads afterwards gets our answer.
    if (!request.readableEnded) request.on('error', () => undefined).resume();
    if (!writer || writer.closed) return;
    const closed = once(writer, 'close').catch(() => undefined);
    writer.destroy();
    await closed;
  }
}

/** A failure of our own disk. */
class FileError extends Error {
  constructor(cause: Error) {
    super(`An upload could not be kept: ${cause.message}`, { cause });
    this.name = FileError.name;
  }
}

function describe(error: unknown): unknown {
  if (error instanceof FileError) return error;
  const message = messageOf(error);
  return new InvalidRequestError('body', `The form cannot be read: ${message.slice(0, 100)}.`);
}

function makeParser({ headers }: IncomingMessage): Busboy {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType)) {
    throw new InvalidRequestError(
      'content-type',
      `Content-Type ${JSON.stringify(contentType.slice(0, 80))} is not taken here; send multipart/form-data.`,
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
        fields: 64,
        files: 1,
        parts: 66,
        headerPairs: 32,
        // The parser says so when it has read this much, and a file of just the limit is none too large.
        fileSize: MAX_FILE_BYTES + 1,
      },
    });
  } catch {
    throw new InvalidRequestError('content-type', 'The Content-Type has no usable boundary.');
  }
}

function tooLarge(): InvalidRequestError {
  return new InvalidRequestError(
    FILE_FIELD,
    `The file is larger than ${MAX_FILE_BYTES / 1_000_000} MB.`,
    413,
  );
}
