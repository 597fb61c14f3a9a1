import {
  findBilledServiceTier,
  modelFieldsSchema,
  notOnSharedCapacity,
  routingFieldsSchema,
} from '../../canonical/routing-fields.js';
import { promptTokensOf } from '../../canonical/prompt-size.js';
import type { ImageEditRequest, UploadedFile } from '../../canonical/work-request.js';
import type { Model } from '../../core/catalogue/catalogue.types.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { FormShape } from '../../platform/http/form-fields.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { readHead, type ReceivedFile } from '../../platform/http/receive-form.js';
import { assertValid, compileSchema, type BodyOf } from '../../platform/http/validate-body.js';
import { sniffContentType } from '../../vendors/dialects/media/media-file.js';
import { toImageRequest } from './job-body.js';
import { imageFieldsSchema } from './jobs.parse.js';

/** The highest limit of any vendor. */
export const MAX_IMAGES = 16;
const HEAD_BYTES = 16;
const MAX_NAME_LENGTH = 100;

/** Types that vendors accept, by file signature, with the extension that some vendors rely on. */
const EXTENSIONS: ReadonlyMap<string | undefined, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/webp', 'webp'],
]);

/** JSON Schema of the form's fields without the files, for validation and OpenAPI. */
export const imageEditSchema = {
  type: 'object',
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: { type: ['string', 'null'], minLength: 1, maxLength: 32_000 },
    ...imageFieldsSchema,
    response_format: {
      type: ['string', 'null'],
      enum: ['b64_json', null],
      description: 'Edited images are returned as Base64.',
    },
    stream: { type: ['boolean', 'null'], enum: [false, null] },
    user: { type: ['string', 'null'], maxLength: 512 },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

/** Form fields that are not strings. */
export const IMAGE_EDIT_FORM: FormShape = {
  lists: new Set(['models']),
  numbers: new Set(['n', 'output_compression', 'partial_images', 'max_cost', 'hedge_ms']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace']),
};

const validate = compileSchema(imageEditSchema);

type ImageEditFields = BodyOf<typeof imageEditSchema>;

/** @throws InvalidRequestError naming the first invalid field */
export function assertImageEdit(
  fields: JsonObject,
  task: ImageEditRequest['task'],
): asserts fields is ImageEditFields {
  assertValid(validate, fields);
  const { prompt } = fields;
  if (task === 'edit' && prompt == null) {
    throw new InvalidRequestError('prompt', 'The parameter `prompt` is missing.');
  }
  if (task === 'variation' && prompt != null) {
    throw new InvalidRequestError('prompt', 'Variations take no `prompt`. Remove it.');
  }
}

/**
 * Combines validated fields and images into a request. Input images have a price only for models
 * whose catalogue row accepts `image`; other models require the tenant's BYOK account.
 * @param find looks up a model by alias
 */
export function makeImageEdit(
  fields: ImageEditFields,
  task: ImageEditRequest['task'],
  files: { images: readonly UploadedFile[]; mask: UploadedFile | undefined },
  find: (alias: string) => Model | undefined,
): ImageEditRequest {
  const request = toImageRequest(fields);
  // Routing rejects unknown models.
  const models = request.models.flatMap((alias) => find(alias) ?? []);
  const hasPrice = models.every((model) => model.supported_parameters.includes('image'));
  const accountBoundParam = hasPrice
    ? findBilledServiceTier(fields)
    : notOnSharedCapacity('image', 'the catalogue has no price for input images of this model');
  const size = {
    tokens: request.ceiling.inputTokens,
    characters: 0,
    images: files.images.length + (files.mask ? 1 : 0),
    pages: 0,
    audioSeconds: 0,
  };
  const mostTokens = models.map((model) => promptTokensOf(size, model.media_tokens));
  const inputTokens = Math.max(size.tokens, ...mostTokens);
  const ceiling = { ...request.ceiling, inputTokens };
  return { ...request, ...files, task, ceiling, accountBoundParam };
}

/**
 * Identifies the form's images by content, not by file name.
 * @throws InvalidRequestError when `image` is missing or a file is not an image
 */
export async function identifyImages(
  files: readonly ReceivedFile[],
): Promise<{ images: UploadedFile[]; mask: UploadedFile | undefined }> {
  const images: UploadedFile[] = [];
  let mask: UploadedFile | undefined;
  for (const file of files) {
    const image = await identifyImage(file);
    if (file.field === 'mask') mask = image;
    else images.push(image);
  }
  if (images.length === 0) throw new InvalidRequestError('image', 'The form has no `image`.');
  return { images, mask };
}

async function identifyImage(file: ReceivedFile): Promise<UploadedFile> {
  const { field, path, sizeBytes, fileName } = file;
  const contentType = sniffContentType(await readHead(file, HEAD_BYTES));
  const extension = EXTENSIONS.get(contentType);
  if (contentType === undefined || extension === undefined) {
    throw new InvalidRequestError(field, `\`${field}\` must be a PNG, JPEG or WebP image.`);
  }
  const base = fileName.replace(/\.[^.]*$/, '').replaceAll(/[^\p{L}\p{N}._ -]/gu, '_');
  const name = `${base.slice(-MAX_NAME_LENGTH) || 'image'}.${extension}`;
  return { path, sizeBytes, fileName: name, contentType };
}
