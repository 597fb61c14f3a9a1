import { NO_USAGE } from '../../src/canonical/usage.js';
import type {
  WorkRequest,
  ImageRequest,
  VideoRequest,
  SpeechRequest,
} from '../../src/canonical/work-request.js';
import type { MediaResult, MediaProgress } from '../../src/vendors/media-work.js';
import type { WorkCall } from '../../src/vendors/upstream.js';
import { LONG_LIMITS } from './fake-connection.js';

type Fields = Record<string, unknown>;

function workOf(value: Fields): Omit<WorkRequest, 'kind'> {
  return {
    body: { value },
    models: ['any/model'],
    routing: {} as WorkRequest['routing'],
    stream: false,
    accountBoundParam: undefined,
    ceiling: NO_USAGE,
    estimate: NO_USAGE,
  };
}

export function imageRequest({ n = 1, ...fields }: Fields = {}): ImageRequest {
  const value = { model: 'any/model', prompt: 'A cat', n, ...fields };
  return { ...workOf(value), kind: 'image', prompt: String(value.prompt), count: n as number };
}

export function videoRequest({ seconds, ...fields }: Fields = {}): VideoRequest {
  const value = { model: 'any/model', prompt: 'A cat walks', seconds, ...fields };
  return {
    ...workOf(value),
    kind: 'video',
    prompt: String(value.prompt),
    seconds: seconds as number | undefined,
  };
}

export function speechRequest(text: string, fields: Fields = {}): SpeechRequest {
  const value: Fields = { model: 'any/model', input: text, voice: 'alloy', ...fields };
  const estimate = {
    ...NO_USAGE,
    inputCharacters: Array.from(text).length,
    inputBytes: Buffer.byteLength(text),
  };
  return {
    ...workOf(value),
    estimate,
    kind: 'speech',
    text,
    voice: 'alloy',
    instructions: undefined,
    format: typeof value.response_format === 'string' ? value.response_format : 'mp3',
    speed: undefined,
  };
}

/** A call with this request on a route; omitted fields do not matter to the test. */
export function mediaCall<Request extends WorkRequest>(
  request: Request,
  upstreamModel: string,
): WorkCall<Request> {
  return {
    request,
    alias: `any/${upstreamModel}`,
    upstreamModel,
    limits: LONG_LIMITS,
    signal: new AbortController().signal,
  };
}

export function assertDone(progress: MediaProgress): MediaResult {
  if (progress.state !== 'done') throw new Error(`still running: ${progress.operation}`);
  return progress;
}

export async function readBytes(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of bytes) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** Reads all files of a finished generation. */
export function readFiles({ files }: MediaResult): Promise<Buffer[]> {
  return Promise.all(files.map(({ bytes }) => readBytes(bytes)));
}

export async function readEvents<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const read: Event[] = [];
  for await (const event of events) read.push(event);
  return read;
}
