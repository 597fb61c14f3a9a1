import { buffer } from 'node:stream/consumers';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type {
  EditedImages,
  ImageEditRequest,
  ImageRequest,
  UploadedFile,
} from '../../../canonical/work-request.js';
import type { MediaDone, MediaFile } from '../../media-work.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import type { MediaFetcher } from '../../transport/media-fetcher.js';
import { UpstreamError, unsupported, unreadable } from '../../upstream-error.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { multipartBody, type MultipartBody } from '../multipart-body.js';
import { MediaAnswer } from '../media/media-answer.js';
import { MediaRoom, type MediaStay } from '../media/media-room.js';
import { BoundedBytes, fileOfBytes, MAX_IMAGE_BYTES } from '../media/media-file.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { vendorFields, classifyMediaError } from '../media/media-fields.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { readTokenCount, listOf, objectOf } from '../answer-json.js';

/**
 * Fields that have no place on shared capacity: files in the vendor account, pictures to start from,
 * which the address for plain prompts does not take, and what costs more than the catalogue's price.
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

/** Drawings are written, and films rendered, by further models that are billed apart. */
const FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', 'webp']);

/** Ten pictures of 4K in base64. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const ANSWER = 'an answer with pictures';

/** A server that makes pictures in OpenAI's dialect. */
interface ImagesServer {
  imagesUrl(upstreamModel: string): URL;
  /** Whether the model has to be asked for bytes, lest it gives addresses. */
  asksForBytes(upstreamModel: string): boolean;
  /** Where pictures are made of pictures; undefined: nowhere. */
  editUrl?(task: ImageEditRequest['task']): URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
}

/** Pictures of a server that answers with them, or with addresses where they lie. */
export class ImagesClient {
  private readonly room = new MediaRoom();

  constructor(
    private readonly server: ImagesServer,
    private readonly transport: HttpTransport,
    private readonly mediaFetcher: MediaFetcher | undefined,
  ) {}

  /** @throws UpstreamError for every failure */
  async submit(call: WorkCall<ImageRequest>): Promise<MediaDone> {
    try {
      return await this.room.hold(call.signal, (stay) => this.drawn(call, stay));
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    }
  }

  private async drawn(call: WorkCall<ImageRequest>, stay: MediaStay): Promise<MediaDone> {
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
    const answer = await MediaAnswer.read(response, ANSWER, MAX_ANSWER_BYTES, stay);
    const { images, usage } = readImagesAnswer(answer, request.count);
    const files: MediaFile[] = [];
    for (const image of images) files.push(await this.fileOf(image, answer, call, stay));
    return { state: 'done', files, usage };
  }

  /** Sends pictures as a form, with the fields as they came. */
  edit(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages> {
    return { droppedParams: [], events: this.edited(call) };
  }

  private async *edited(call: WorkCall<ImageEditRequest>): AsyncGenerator<WorkEvent<EditedImages>> {
    const { request, upstreamModel, limits, signal } = call;
    const url = this.server.editUrl?.(request.task);
    if (!url) throw unsupported('model', 'This provider makes no pictures of pictures here.');
    const stay = this.room.enter(signal);
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
      const answer = await MediaAnswer.read(response, ANSWER, MAX_ANSWER_BYTES, stay);
      const { images, usage, tokens } = readImagesAnswer(answer, request.count);
      const made: string[] = [];
      for (const image of images) {
        const { bytes: pieces } = await this.fileOf(image, answer, call, stay);
        made.push((await buffer(pieces)).toString('base64'));
      }
      yield { type: 'usage', usage };
      yield { type: 'output', output: { images: made, usage: tokens } };
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    } finally {
      stay.end();
    }
  }

  private async fileOf(
    image: GivenImage,
    answer: MediaAnswer,
    call: WorkCall<ImageRequest>,
    stay: MediaStay,
  ): Promise<MediaFile> {
    if ('base64' in image) return answer.fileOf(image.base64, undefined, MAX_IMAGE_BYTES);
    const url = URL.canParse(image.url) ? new URL(image.url) : undefined;
    // A server of the operator's own may give addresses of itself, whatever network it stands in.
    const isOwn = url?.origin === this.server.imagesUrl(call.upstreamModel).origin;
    if (isOwn) return fileOfBytes(await this.bytesAt(url, call, stay), undefined);
    const bytes = await this.fetchedBytes(image.url, call);
    await stay.take(bytes.length);
    return fileOfBytes(bytes, undefined);
  }

  private async bytesAt(
    url: URL,
    { limits, signal }: WorkCall<ImageRequest>,
    stay: MediaStay,
  ): Promise<Buffer> {
    const headers = { 'user-agent': 'model-gateway', accept: 'image/*' };
    const response = await this.transport.call({ method: 'GET', url, headers, limits, signal });
    if (response.status !== 200) {
      response.cancel();
      throw lost(`status ${response.status}`);
    }
    const pieces: Buffer[] = [];
    for await (const piece of new BoundedBytes(response, MAX_IMAGE_BYTES)) {
      await stay.take(piece.length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  private async fetchedBytes(url: string, { signal }: WorkCall<ImageRequest>): Promise<Buffer> {
    if (!this.mediaFetcher) throw lost('an address elsewhere');
    try {
      return (await this.mediaFetcher.fetch(url, { signal, param: 'url' })).data;
    } catch (error) {
      // The caller has no part in where the vendor leaves its pictures.
      if (error instanceof UpstreamError) throw lost(error.message);
      throw error;
    }
  }
}

function lost(problem: string): UpstreamError {
  return unreadable(`a picture out of reach: ${problem}`);
}

/**
 * A body for `images/generations`. Fields that the gateway does not know go along: the dialect is the
 * caller's.
 *
 * @param asksForBytes of models that would give an address otherwise; the others take no word on it
 * @throws UpstreamError `unsupported` for a field that cannot be left out without changing the work
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

/** The vendor's own fields. @throws UpstreamError `unsupported` for one that must not get there */
function fieldsToSend({ body }: ImageRequest): [string, unknown][] {
  const fields = vendorFields(body.value).filter(([name]) => name !== 'n');
  for (const [name, value] of fields) {
    if (REFUSED.has(name)) throw unsupported(name, `\`${name}\` is not taken here.`);
    if (name === 'output_format' && !FORMATS.has(value)) {
      throw unsupported(name, 'Pictures are made as png, jpeg or webp.');
    }
  }
  return fields;
}

/**
 * A form for `images/edits` or `images/variations`.
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
  // One goes by the name that every server knows.
  const name = images.length === 1 ? 'image' : 'image[]';
  const files = images.map((image): [string, UploadedFile] => [name, image]);
  if (mask) files.push(['mask', mask]);
  return multipartBody(fields, files);
}

/** A picture in the answer, or where it lies. */
type GivenImage = { base64: string } | { url: string };

interface ImagesAnswer {
  images: GivenImage[];
  usage: Usage;
  /** As the vendor spells them. */
  tokens: JsonObject | undefined;
}

/**
 * The pictures of an answer, at least one. Any beyond those that were asked for are neither fetched
 * nor counted.
 *
 * @param count how many were asked for
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

/** Undefined for one that is missing, as when a filter kept it back. */
function readImage(item: unknown, answer: MediaAnswer): GivenImage | undefined {
  const { b64_json: base64, url } = objectOf(item);
  if (typeof base64 === 'string' && base64 !== '') return { base64 };
  if (typeof url !== 'string' || url === '') return undefined;
  return answer.isFile(url) ? { base64: url } : { url };
}

/** Text and image tokens together, for catalogues that price a picture by its tokens. */
function readTokens(usage: unknown): Usage {
  if (!isJsonObject(usage)) return NO_USAGE;
  const inputTokens = readTokenCount(usage.input_tokens);
  const outputTokens = readTokenCount(usage.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return NO_USAGE;
  return { ...NO_USAGE, inputTokens, outputTokens };
}
