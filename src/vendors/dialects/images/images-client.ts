import type { ImageRequest } from '../../../canonical/work-request.js';
import type { MediaDone, MediaFile } from '../../media-work.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { MediaFetcher } from '../../transport/media-fetcher.js';
import { UpstreamError } from '../../upstream-error.js';
import type { WorkCall } from '../../upstream.js';
import { hideOwnKey } from '../hide-own-key.js';
import { classifyMediaError } from '../media/classify-media-error.js';
import { fileOfBase64, fileOfBytes, MAX_IMAGE_BYTES } from '../media/media-file.js';
import { readFailedAnswer } from '../read-failed-answer.js';
import { encodeImagesRequest } from './encode-images-request.js';
import { readImagesAnswer, type GivenImage } from './read-images-answer.js';

/** Ten pictures of 4K in base64. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** A server that makes pictures in OpenAI's dialect. */
export interface ImagesServer {
  imagesUrl(upstreamModel: string): URL;
  /** Whether the model has to be asked for bytes, lest it gives addresses. */
  asksForBytes(upstreamModel: string): boolean;
  authorization: Record<string, string>;
  apiKey: string | undefined;
}

/** Pictures of a server that answers with them, or with addresses where they lie. */
export class ImagesClient {
  constructor(
    private readonly server: ImagesServer,
    private readonly transport: HttpTransport,
    private readonly mediaFetcher: MediaFetcher | undefined,
  ) {}

  /** @throws UpstreamError for every failure */
  async submit(call: WorkCall<ImageRequest>): Promise<MediaDone> {
    const { request, upstreamModel, limits, signal } = call;
    try {
      const response = await this.transport.call({
        method: 'POST',
        url: this.server.imagesUrl(upstreamModel),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'model-gateway',
          accept: 'application/json',
          ...this.server.authorization,
        },
        body: encodeImagesRequest(request, upstreamModel, this.server.asksForBytes(upstreamModel)),
        limits,
        signal,
      });
      if (response.status !== 200) throw await readFailedAnswer(response, classifyMediaError);
      const { images, usage } = readImagesAnswer(await response.readAll(MAX_ANSWER_BYTES));
      const files: MediaFile[] = [];
      for (const image of images) files.push(await this.fileOf(image, call));
      return { state: 'done', files, usage };
    } catch (error) {
      throw hideOwnKey(error, this.server.apiKey);
    }
  }

  private async fileOf(image: GivenImage, call: WorkCall<ImageRequest>): Promise<MediaFile> {
    if ('base64' in image) return fileOfBase64(image.base64, undefined, MAX_IMAGE_BYTES);
    const url = URL.canParse(image.url) ? new URL(image.url) : undefined;
    // A server of the operator's own may give addresses of itself, whatever network it stands in.
    if (url?.origin === this.server.imagesUrl(call.upstreamModel).origin) {
      return this.fileAt(url, call);
    }
    return this.fetchedFile(image.url, call);
  }

  private async fileAt(url: URL, { limits, signal }: WorkCall<ImageRequest>): Promise<MediaFile> {
    const headers = { 'user-agent': 'model-gateway', accept: 'image/*' };
    const response = await this.transport.call({ method: 'GET', url, headers, limits, signal });
    if (response.status !== 200) {
      response.cancel();
      throw lost(`status ${response.status}`);
    }
    return fileOfBytes(await response.readAll(MAX_IMAGE_BYTES), undefined);
  }

  private async fetchedFile(url: string, { signal }: WorkCall<ImageRequest>): Promise<MediaFile> {
    if (!this.mediaFetcher) throw lost('an address elsewhere');
    try {
      const { data } = await this.mediaFetcher.fetch(url, { signal, param: 'url' });
      return fileOfBytes(data, undefined);
    } catch (error) {
      // The caller has no part in where the vendor leaves its pictures.
      if (error instanceof UpstreamError) throw lost(error.message);
      throw error;
    }
  }
}

function lost(problem: string): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message: `a picture out of reach: ${problem}`,
  });
}
