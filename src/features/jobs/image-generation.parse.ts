import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
import type { Model } from '../../core/catalogue/model.js';
import { imageGenerationSchema } from './image-generation.schema.js';
import { findModel, paramOf, readJob, type ParsedJob } from './jobs.parse.js';

const validate = compileSchema(imageGenerationSchema);

export interface ParsedImageGeneration {
  readonly parsed: ParsedJob;
  /** How the caller wants its pictures. */
  readonly format: 'url' | 'b64_json';
}

/**
 * Reads the body of an image generation.
 *
 * @param find looks a model up by its alias
 * @throws InvalidRequestError naming the first field at fault
 * @throws NotFoundError (`model`, or `models`) for an unknown model
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
      `${JSON.stringify(model.id)} is a model for ${model.kind} and cannot make images.`,
    );
  }
  const usual = model.supported_parameters.includes('response_format') ? 'url' : 'b64_json';
  // A job's other fields mean nothing here, and the vendor knows none of them.
  const { stream: _, input: __, webhook_url: ___, ...value } = body;
  return {
    parsed: readJob(value, 'image', model),
    format: body.response_format ?? usual,
  };
}
