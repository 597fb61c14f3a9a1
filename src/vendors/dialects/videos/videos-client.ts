import type { VideoRequest } from '../../../canonical/work-request.js';
import type { MediaFile, MediaProgress } from '../../media-work.js';
import type { HttpCall, HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError } from '../../upstream-error.js';
import type { OperationCall, WorkCall } from '../../upstream.js';
import { hideOwnKey } from '../hide-own-key.js';
import { classifyMediaError } from '../media/classify-media-error.js';
import { BoundedBytes } from '../media/bounded-bytes.js';
import { MAX_VIDEO_BYTES } from '../media/media-file.js';
import { readFailedAnswer } from '../read-failed-answer.js';
import { encodeVideoRequest } from './encode-video-request.js';
import { readVideo, type Video } from './read-video.js';

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_POLL_AFTER_MS = 600_000;
/** What no vendor labels a video as, though a proxy's page of regrets may well come so. */
const NO_VIDEO = /^(?:application\/(?:json|xml)|text\/)/i;
/** The video is not, or no longer, there to be stopped. */
const TOO_LATE: ReadonlySet<number> = new Set([400, 404, 405, 409, 410]);

/** A server that makes videos in OpenAI's dialect: asked for, asked after, and fetched. */
export interface VideosServer {
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
      const { contentType, body } = encodeVideoRequest(request, upstreamModel);
      const { videosUrl: url } = this.server;
      const headers = { 'content-type': contentType };
      const response = await this.call({ method: 'POST', url, headers, body, limits, signal });
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
      const file = await this.download({ url: this.urlOf(operation, '/content'), limits, signal });
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
    const contentType = (response.headers['content-type'] ?? '').split(';')[0]!.trim();
    if (NO_VIDEO.test(contentType)) {
      response.cancel();
      throw new UpstreamError({ failure: 'unreadable', message: 'an answer that is no video' });
    }
    const isNamed = contentType.startsWith('video/');
    return {
      contentType: isNamed ? contentType.toLowerCase() : 'video/mp4',
      bytes: new BoundedBytes(response, MAX_VIDEO_BYTES, (error) =>
        hideOwnKey(error, this.server.apiKey),
      ),
    };
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
      throw hideOwnKey(error, this.server.apiKey);
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
