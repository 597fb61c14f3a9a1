import { buffer } from 'node:stream/consumers';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type {
  EditedImages,
  ImageEditRequest,
  ImageRequest,
  UploadedFile,
} from '../../../canonical/work-request.js';
import type { MediaResult, MediaFile } from '../../media-work.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { MediaFetcher } from '../../transport/media-fetcher.js';
import { UpstreamError, unsupported, unreadable } from '../../upstream-error.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { multipartBody, type MultipartBody } from '../multipart-body.js';
import { MediaAnswer } from '../media/media-answer.js';
import { MediaMemory, type MediaReservation } from '../media/media-memory.js';
import { BoundedBytes, fileOfBytes, MAX_IMAGE_BYTES } from '../media/media-file.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { vendorFields, classifyMediaError } from '../media/media-fields.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { readTokenCount, listOf, objectOf } from '../answer-json.js';

/**
 * Fields that shared capacity refuses: files in the vendor account, input images, which the endpoint for
 * plain prompts does not accept, and options that cost more than the catalogue's price.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'image',
  'images',
  'mask',
  'input_reference',
  'file_id',
  'partial_images',
  'svg',
  'frame_count',
  'frame_duration_ms',
]);

/** Vector drawings and videos use additional models that are billed separately. */
const FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', 'webp']);

/** Ten 4K images in base64. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const ANSWER = 'an answer with pictures';

/** A server that generates images in OpenAI's dialect. */
interface ImagesServer {
  imagesUrl(upstreamModel: string): URL;
  /** Requests bytes from models that would otherwise return URLs. */
  asksForBytes(upstreamModel: string): boolean;
  /** Endpoint for editing images; undefined: not supported. */
  editUrl?(task: ImageEditRequest['task']): URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
}

/** Generates images on a server that answers with files or URLs. */
export class ImagesClient {
  private readonly memory = new MediaMemory();

  constructor(
    private readonly server: ImagesServer,
    private readonly transport: HttpTransport,
    private readonly mediaFetcher: MediaFetcher | undefined,
  ) {}

  /** @throws UpstreamError for every failure */
  async submit(call: WorkCall<ImageRequest>): Promise<MediaResult> {
    try {
      return await this.memory.hold(call.signal, (reservation) => this.drawn(call, reservation));
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    }
  }

  private async drawn(
    call: WorkCall<ImageRequest>,
    reservation: MediaReservation,
  ): Promise<MediaResult> {
    const { request, upstreamModel, limits, signal } = call;
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
    const answer = await MediaAnswer.read(response, ANSWER, MAX_ANSWER_BYTES, reservation);
    const { images, usage } = readImagesAnswer(answer, request.count);
    const files: MediaFile[] = [];
    for (const image of images) files.push(await this.fileOf(image, answer, call, reservation));
    return { state: 'done', files, usage };
  }

  /** Sends images as a form, with the fields as received. */
  edit(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages> {
    return { droppedParams: [], events: this.edited(call) };
  }

  private async *edited(call: WorkCall<ImageEditRequest>): AsyncGenerator<WorkEvent<EditedImages>> {
    const { request, upstreamModel, limits, signal } = call;
    const url = this.server.editUrl?.(request.task);
    if (!url)
      throw unsupported('model', 'This provider does not support image edits or variations.');
    const reservation = this.memory.enter(signal);
    try {
      const asksForBytes = this.server.asksForBytes(upstreamModel);
      const body = encodeImageEdit(request, upstreamModel, asksForBytes);
      const response = await this.transport.call({
        method: 'POST',
        url,
        headers: {
          'user-agent': 'model-gateway',
          accept: 'application/json',
          ...this.server.authorization,
          ...body.headers,
        },
        bodyStream: body.stream,
        limits,
        signal,
      });
      if (response.status !== 200) throw await readFailedAnswer(response, classifyMediaError);
      const answer = await MediaAnswer.read(response, ANSWER, MAX_ANSWER_BYTES, reservation);
      const { images, usage, tokens } = readImagesAnswer(answer, request.count);
      const made: string[] = [];
      for (const image of images) {
        const { bytes: pieces } = await this.fileOf(image, answer, call, reservation);
        made.push((await buffer(pieces)).toString('base64'));
      }
      yield { type: 'usage', usage };
      yield { type: 'output', output: { images: made, usage: tokens } };
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    } finally {
      reservation.end();
    }
  }

  private async fileOf(
    image: GivenImage,
    answer: MediaAnswer,
    call: WorkCall<ImageRequest>,
    reservation: MediaReservation,
  ): Promise<MediaFile> {
    if ('base64' in image) return answer.fileOf(image.base64, undefined, MAX_IMAGE_BYTES);
    const url = URL.canParse(image.url) ? new URL(image.url) : undefined;
    // A self-hosted server may return its own URLs, even on a private network.
    const isOwn = url?.origin === this.server.imagesUrl(call.upstreamModel).origin;
    if (isOwn) return fileOfBytes(await this.bytesAt(url, call, reservation), undefined);
    const bytes = await this.fetchedBytes(image.url, call);
    await reservation.take(bytes.length);
    return fileOfBytes(bytes, undefined);
  }

  private async bytesAt(
    url: URL,
    { limits, signal }: WorkCall<ImageRequest>,
    reservation: MediaReservation,
  ): Promise<Buffer> {
    const headers = { 'user-agent': 'model-gateway', accept: 'image/*' };
    const response = await this.transport.call({ method: 'GET', url, headers, limits, signal });
    if (response.status !== 200) {
      response.cancel();
      throw lost(`status ${response.status}`);
    }
    const pieces: Buffer[] = [];
    for await (const piece of new BoundedBytes(response, MAX_IMAGE_BYTES)) {
      await reservation.take(piece.length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  private async fetchedBytes(url: string, { signal }: WorkCall<ImageRequest>): Promise<Buffer> {
    if (!this.mediaFetcher) throw lost('an address elsewhere');
    try {
      return (await this.mediaFetcher.fetch(url, { signal, param: 'url' })).data;
    } catch (error) {
      // The caller has no influence on where the vendor stores its images.
      if (error instanceof UpstreamError) throw lost(error.message);
      throw error;
    }
  }
}

function lost(problem: string): UpstreamError {
  return unreadable(`an unavailable image: ${problem}`);
}

/**
 * Encodes a body for `images/generations`. Unknown fields are passed on, because the dialect is the
 * caller's.
 *
 * @param asksForBytes for models that would return URLs otherwise; the others reject the option
 * @throws UpstreamError `unsupported` for a field that cannot be dropped without changing the result
 */
function encodeImagesRequest(
  request: ImageRequest,
  upstreamModel: string,
  asksForBytes: boolean,
): Buffer {
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(fieldsToSend(request)),
      model: upstreamModel,
      prompt: request.prompt,
      n: request.count,
      ...(asksForBytes && { response_format: 'b64_json' }),
    }),
  );
}

/** Returns the vendor's own fields. @throws UpstreamError `unsupported` for one that must not be sent */
function fieldsToSend({ body }: ImageRequest): [string, unknown][] {
  const fields = vendorFields(body.value).filter(([name]) => name !== 'n');
  for (const [name, value] of fields) {
    if (REFUSED.has(name)) throw unsupported(name, `\`${name}\` is not supported. Omit it.`);
    if (name === 'output_format' && !FORMATS.has(value)) {
      throw unsupported(name, 'Image formats must be png, jpeg or webp.');
    }
  }
  return fields;
}

/**
 * Encodes a form for `images/edits` or `images/variations`.
 *
 * @throws UpstreamError `unsupported` as for plain prompts
 */
function encodeImageEdit(
  request: ImageEditRequest,
  upstreamModel: string,
  asksForBytes: boolean,
): MultipartBody {
  const { prompt, count, images, mask } = request;
  const fields: [string, unknown][] = [['model', upstreamModel]];
  if (prompt !== '') fields.push(['prompt', prompt]);
  fields.push(['n', count], ...fieldsToSend(request));
  if (asksForBytes) fields.push(['response_format', 'b64_json']);
  // Every server supports this name for a single image.
  const name = images.length === 1 ? 'image' : 'image[]';
  const files = images.map((image): [string, UploadedFile] => [name, image]);
  if (mask) files.push(['mask', mask]);
  return multipartBody(fields, files);
}

/** An image in the answer, or its URL. */
type GivenImage = { base64: string } | { url: string };

interface ImagesAnswer {
  images: GivenImage[];
  usage: Usage;
  /** In the vendor's own format. */
  tokens: JsonObject | undefined;
}

/**
 * Reads the images of an answer, at least one. Surplus images are neither fetched nor counted.
 *
 * @param count the requested number
 * @throws UpstreamError `unreadable`
 */
function readImagesAnswer(answer: MediaAnswer, count: number): ImagesAnswer {
  const { data, usage } = answer.json;
  const images = listOf(data)
    .flatMap((item) => readImage(item, answer) ?? [])
    .slice(0, count);
  if (images.length === 0) throw unreadable('an answer without pictures');
  const tokens = isJsonObject(usage) ? usage : undefined;
  return { images, usage: { ...readTokens(tokens), imageCount: images.length }, tokens };
}

/** Returns undefined for a missing image, for example one removed by a filter. */
function readImage(item: unknown, answer: MediaAnswer): GivenImage | undefined {
  const { b64_json: base64, url } = objectOf(item);
  if (typeof base64 === 'string' && base64 !== '') return { base64 };
  if (typeof url !== 'string' || url === '') return undefined;
  return answer.isFile(url) ? { base64: url } : { url };
}

/** Adds text and image tokens, for catalogues that price images by token. */
function readTokens(usage: unknown): Usage {
  if (!isJsonObject(usage)) return NO_USAGE;
  const inputTokens = readTokenCount(usage.input_tokens);
  const outputTokens = readTokenCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return NO_USAGE;
  return { ...NO_USAGE, inputTokens, outputTokens };
}
