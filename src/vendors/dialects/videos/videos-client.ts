import type { VideoRequest } from '../../../canonical/work-request.js';
import { MediaFailedError, type MediaFile, type MediaProgress } from '../../media-work.js';
import type { HttpCall, HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { unsupported, unreadable } from '../../upstream-error.js';
import type { OperationCall, WorkCall } from '../../upstream.js';
import { classifyMediaError, vendorFields } from '../media/media-fields.js';
import { assertMedia, MAX_VIDEO_BYTES, BoundedBytes } from '../media/media-file.js';
import { readFailedAnswer, redactKey, shownMessage } from '../failed-answer.js';
import { multipartBody, type MultipartBody } from '../multipart-body.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { type JsonObject } from '../../../platform/http/json-body.js';
import { objectOf, parseAnswerObject } from '../answer-json.js';

const MAX_SECONDS = 86_400;

/** Ids are part of URLs. */
const ID = /^\w[\w.~:=-]{0,499}$/;

/** Files and resources in the vendor account. */
const REFUSED: ReadonlySet<string> = new Set([
  'input_reference',
  'image',
  'video',
  'characters',
  'file_id',
  'remix_video_id',
]);

/** Other names must not appear in the form's headers. */
const NAME = /^[\w.-]{1,64}$/;

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_POLL_AFTER_MS = 600_000;
/** The video is gone or cannot be cancelled any more. */
const TOO_LATE: ReadonlySet<number> = new Set([400, 404, 405, 409, 410]);

/** A server that generates videos in OpenAI's dialect, with calls to create, poll and download them. */
interface VideosServer {
  videosUrl: URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
  /** The header with the poll delay in milliseconds. */
  pollAfterHeader: string;
}

export class VideosClient {
  constructor(
    private readonly server: VideosServer,
    private readonly transport: HttpTransport,
  ) {}

  /** @throws UpstreamError for every failure; MediaFailedError when the answer reports failed work */
  submit({
    request,
    upstreamModel,
    limits,
    signal,
  }: WorkCall<VideoRequest>): Promise<MediaProgress> {
    return this.hidingKeys(async () => {
      const { headers, stream: bodyStream } = encodeVideoRequest(request, upstreamModel);
      const { videosUrl: url } = this.server;
      const response = await this.call({
        method: 'POST',
        url,
        headers,
        bodyStream,
        limits,
        signal,
      });
      const video = readVideo(await response.readAll(MAX_ANSWER_BYTES));
      // A finished video is downloaded by the first poll, so that its id is stored first.
      return this.runningOf(video, response);
    });
  }

  /** @throws MediaFailedError when the video has failed; UpstreamError when polling did */
  poll({ operation, limits, signal }: OperationCall): Promise<MediaProgress> {
    return this.hidingKeys(async () => {
      const url = this.urlOf(operation);
      const response = await this.call({ method: 'GET', url, headers: {}, limits, signal });
      const video = readVideo(await response.readAll(MAX_ANSWER_BYTES));
      if (!video.isCompleted) return this.runningOf({ id: operation }, response);
      const call = { url: this.urlOf(operation, '/content'), limits, signal };
      // It is done anyway: a download that does not start counts as an interrupted file.
      const file = await this.download(call).catch((error: unknown) =>
        fileOf(failing(redactKey(error, this.server.apiKey))),
      );
      return { state: 'done', files: [file], usage: video.usage };
    });
  }

  /** Deletes the video, which cancels its generation. @throws UpstreamError */
  cancel({ operation, limits, signal }: OperationCall): Promise<void> {
    return this.hidingKeys(async () => {
      const url = this.urlOf(operation);
      const call = { method: 'DELETE', url, headers: {}, limits, signal } as const;
      (await this.call(call, TOO_LATE)).drain();
    });
  }

  private async download(call: Pick<HttpCall, 'url' | 'limits' | 'signal'>): Promise<MediaFile> {
    const headers = { accept: 'video/*, application/binary' };
    const response = await this.call({ ...call, method: 'GET', headers });
    assertMedia(response, 'video');
    const contentType = (response.headers['content-type'] ?? '').split(';')[0]!.trim();
    const isNamed = contentType.startsWith('video/');
    const bytes = new BoundedBytes(response, MAX_VIDEO_BYTES, (error) =>
      redactKey(error, this.server.apiKey),
    );
    return fileOf(bytes, isNamed ? contentType.toLowerCase() : undefined);
  }

  /** @throws UpstreamError for a status that is neither a success nor `allowed` */
  private async call(call: HttpCall, allowed?: ReadonlySet<number>): Promise<UpstreamResponse> {
    const response = await this.transport.call({
      ...call,
      headers: {
        'user-agent': 'model-gateway',
        accept: 'application/json',
        ...call.headers,
        ...this.server.authorization,
      },
    });
    const { status } = response;
    if (status === 200 || status === 201 || status === 202 || allowed?.has(status)) return response;
    if (status === 204) return response;
    throw await readFailedAnswer(response, classifyMediaError);
  }

  private urlOf(operation: string, rest = ''): URL {
    const { videosUrl } = this.server;
    const url = new URL(videosUrl);
    url.pathname = `${videosUrl.pathname}/${encodeURIComponent(operation)}${rest}`;
    return url;
  }

  private async hidingKeys<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    }
  }

  private runningOf({ id }: Pick<Video, 'id'>, { headers }: UpstreamResponse): MediaProgress {
    const pollAfterMs = Number(headers[this.server.pollAfterHeader]);
    const isGiven = Number.isInteger(pollAfterMs) && pollAfterMs > 0;
    return {
      state: 'running',
      operation: id,
      ...(isGiven && { pollAfterMs: Math.min(pollAfterMs, MAX_POLL_AFTER_MS) }),
    };
  }
}

/**
 * Encodes a form for `videos`, as the vendor's own client sends it. Unknown fields are passed on, because
 * the dialect is the caller's.
 *
 * @throws UpstreamError `unsupported` for a field that cannot be dropped without changing the result
 */
function encodeVideoRequest(
  { body, prompt, seconds }: VideoRequest,
  upstreamModel: string,
): MultipartBody {
  const fields: [string, unknown][] = [
    ['model', upstreamModel],
    ['prompt', prompt],
  ];
  if (seconds !== undefined) fields.push(['seconds', seconds]);
  for (const [name, value] of vendorFields(body.value)) {
    if (name === 'seconds') continue;
    if (REFUSED.has(name) || !NAME.test(name)) {
      throw unsupported(name, `\`${name}\` is not supported. Omit it.`);
    }
    if (name === 'n' && value !== 1)
      throw unsupported('n', 'Only one video can be generated per request.');
    if (name !== 'n') fields.push([name, value]);
  }
  return multipartBody(fields);
}

function fileOf(bytes: AsyncIterable<Buffer>, contentType = 'video/mp4'): MediaFile {
  return { contentType, bytes };
}

function failing(error: unknown): AsyncIterable<Buffer> {
  const next = async (): Promise<never> => {
    throw error;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** A vendor's `video` object. */
export interface Video {
  id: string;
  isCompleted: boolean;
  /** Usage by its length; undefined when the vendor does not report it. */
  usage: Usage | undefined;
}

/**
 * Parses a `video` object. Unknown statuses count as running.
 *
 * @throws MediaFailedError for a video that has failed; UpstreamError `unreadable` for an invalid one
 */
function readVideo(bytes: Buffer): Video {
  const video = parseAnswerObject(bytes.toString('utf8'), 'a video');
  const { id, status } = video;
  if (typeof id !== 'string' || !ID.test(id) || typeof status !== 'string') {
    throw unreadable('a video without id or status');
  }
  if (status === 'failed' || status === 'cancelled' || status === 'canceled') throw failed(video);
  return { id, isCompleted: status === 'completed', usage: readUsage(video.seconds) };
}

function failed({ error, status }: JsonObject): MediaFailedError {
  const { code, message } = objectOf(error);
  return new MediaFailedError(
    typeof code === 'string' && code !== '' ? code.slice(0, 100) : 'provider_error',
    typeof message === 'string' && message !== ''
      ? shownMessage(message)
      : `The provider reports the video as ${String(status)}.`,
  );
}

function readUsage(given: unknown): Usage | undefined {
  const seconds = typeof given === 'string' && given !== '' ? Number(given) : given;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > MAX_SECONDS) return undefined;
  return { ...NO_USAGE, videoSeconds: Math.ceil(seconds) };
}
