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

/** Ids stand in addresses. */
const ID = /^\w[\w.~:=-]{0,499}$/;

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

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_POLL_AFTER_MS = 600_000;
/** The video is not, or no longer, there to be stopped. */
const TOO_LATE: ReadonlySet<number> = new Set([400, 404, 405, 409, 410]);

/** A server that makes videos in OpenAI's dialect: asked for, asked after, and fetched. */
interface VideosServer {
  videosUrl: URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
  /** The header that says how many milliseconds to wait before asking again. */
  pollAfterHeader: string;
}

export class VideosClient {
  constructor(
    private readonly server: VideosServer,
    private readonly transport: HttpTransport,
  ) {}

  /** @throws UpstreamError for every failure; MediaFailedError where the answer is the verdict */
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
      // What is already there is fetched by the first poll, so that its name is kept before.
      return this.runningOf(video, response);
    });
  }

  /** @throws MediaFailedError when the video has failed; UpstreamError when the question did */
  poll({ operation, limits, signal }: OperationCall): Promise<MediaProgress> {
    return this.hidingKeys(async () => {
      const url = this.urlOf(operation);
      const response = await this.call({ method: 'GET', url, headers: {}, limits, signal });
      const video = readVideo(await response.readAll(MAX_ANSWER_BYTES));
      if (!video.isCompleted) return this.runningOf({ id: operation }, response);
      const call = { url: this.urlOf(operation, '/content'), limits, signal };
      // It is done all the same: a file that does not begin is one that breaks off.
      const file = await this.download(call).catch((error: unknown) =>
        fileOf(failing(redactKey(error, this.server.apiKey))),
      );
      return { state: 'done', files: [file], usage: video.usage };
    });
  }

  /** Deletes the video, which stops what is being made of it. @throws UpstreamError */
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

  /** @throws UpstreamError for an answer with a status that is neither a success nor `allowed` */
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
 * A form for `videos`, as the vendor's own client sends it. Fields that the gateway does not know go
 * along: the dialect is the caller's.
 *
 * @throws UpstreamError `unsupported` for a field that cannot be left out without changing the work
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
      throw unsupported(name, `\`${name}\` is not taken here.`);
    }
    if (name === 'n' && value !== 1) throw unsupported('n', 'One video is made at a time.');
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

/** A vendor's word on a video. */
export interface Video {
  id: string;
  isCompleted: boolean;
  /** Of its length; undefined where the vendor does not say. */
  usage: Usage | undefined;
}

/**
 * Reads a `video` object. A status that nobody knows counts as one on the way.
 *
 * @throws MediaFailedError for a video that has failed; UpstreamError `unreadable` for what is none
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
      : `The provider says that the video is ${String(status)}.`,
  );
}

function readUsage(given: unknown): Usage | undefined {
  const seconds = typeof given === 'string' && given !== '' ? Number(given) : given;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > MAX_SECONDS) return undefined;
  return { ...NO_USAGE, videoSeconds: Math.ceil(seconds) };
}
