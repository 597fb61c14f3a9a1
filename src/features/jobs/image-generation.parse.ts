import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
import type { Model } from '../../core/catalogue/catalogue.types.js';
import { findModel, paramOf, readJob, type ParsedJob, imageFieldsSchema } from './jobs.parse.js';
import { modelFieldsSchema, routingFieldsSchema } from '../../canonical/routing-fields.js';

/**
 * JSON Schema of the body, for validation and OpenAPI. Unknown fields are model parameters and are
 * forwarded to the vendor.
 */
export const imageGenerationSchema = {
  title: 'ImageRequest',
  type: 'object',
  required: ['prompt'],
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: {
      type: 'string',
      minLength: 1,
      maxLength: 200_000,
      example: 'A lighthouse in the fog',
    },
    ...imageFieldsSchema,
    response_format: {
      type: ['string', 'null'],
      enum: ['url', 'b64_json', null],
      description: 'Defaults to `url` for models with this parameter and `b64_json` for others.',
    },
    stream: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Image streaming is not supported.',
    },
    user: { type: ['string', 'null'], maxLength: 512 },
    trace: { type: ['object', 'null'] },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(imageGenerationSchema);

interface ParsedImageGeneration {
  readonly parsed: ParsedJob;
  /** Response format of the images. */
  readonly format: 'url' | 'b64_json';
}

/**
 * Parses the body of an image generation.
 * @param find looks up a model by alias
 * @throws InvalidRequestError naming the first invalid field
 * @throws NotFoundError (`model` or `models`) for an unknown model
 */
export function parseImageGeneration(
  body: JsonObject,
  find: (alias: string) => Model | undefined,
): ParsedImageGeneration {
  assertValid(validate, body);
  const model = findModel(body, find);
  if (model.kind !== 'image') {
    throw new InvalidRequestError(
      paramOf(body, model.id),
      `${JSON.stringify(model.id)} is a model for ${model.kind} and does not generate images.`,
    );
  }
  const usual = model.supported_parameters.includes('response_format') ? 'url' : 'b64_json';
  // Job-only fields have no meaning here, and vendors don't know them.
  const { stream: _, input: __, webhook_url: ___, ...value } = body;
  return {
    parsed: readJob(value, 'image', model),
    format: body.response_format ?? usual,
  };
}
