import type { MediaRequest } from '../../canonical/work-request.js';
import { countCodePoints } from '../../canonical/prompt-size.js';
import {
  readModelChain,
  modelFieldsSchema,
  routingFieldsSchema,
} from '../../canonical/routing-fields.js';
import type { ModelKind, Model } from '../../core/catalogue/catalogue.types.js';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
import { textFieldOf, textOf, toMediaRequest, type MediaBody } from './job-body.js';
import type { JobModality } from './job.js';
/** Code points. Image and video models accept far fewer, and long speech is produced in pieces. */
const MAX_TEXT_CHARACTERS = 200_000;

const MAX_IMAGES = 10;

const MAX_VIDEO_SECONDS = 60;

const text = { type: ['string', 'null'], minLength: 1, maxLength: MAX_TEXT_CHARACTERS } as const;

/** Fields shared by image requests and jobs. */
export const imageFieldsSchema = {
  n: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MAX_IMAGES,
    default: 1,
    description: 'Number of images.',
  },
  size: { type: ['string', 'null'], maxLength: 64, example: '1024x1024' },
  quality: { type: ['string', 'null'], maxLength: 64 },
} as const;

/**
 * JSON Schema of a new job, for validation and OpenAPI. Unknown fields are model parameters and
 * are forwarded to the vendor.
 */
export const jobSchema = {
  title: 'JobRequest',
  type: 'object',
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: {
      ...text,
      description: 'Prompt of the output; `input` is a synonym. Exactly one is required.',
      example: 'A lighthouse in the fog',
    },
    input: { ...text, description: 'The text to speak, or the prompt.' },
    ...imageFieldsSchema,
    seconds: {
      type: ['integer', 'string', 'null'],
      minimum: 1,
      maximum: MAX_VIDEO_SECONDS,
      pattern: '^[1-9]\\d?$',
      description: "Length of a video. Defaults to the model's own.",
    },
    voice: {
      type: ['string', 'object', 'null'],
      minLength: 1,
      maxLength: 256,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
      description: 'Speech only. Defaults to `alloy`.',
    },
    response_format: {
      type: ['string', 'null'],
      maxLength: 64,
      description: 'Speech only: `mp3` (default), `opus`, `aac`, `flac`, `wav` or `pcm`.',
    },
    speed: { type: ['number', 'null'], minimum: 0.25, maximum: 4 },
    instructions: { type: ['string', 'null'], maxLength: 10_000 },
    metadata: {
      type: ['object', 'null'],
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
      description: 'Up to 16 strings, returned with the job.',
    },
    webhook_url: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 2_048,
      description: 'URL that receives a webhook when the job ends.',
      example: 'https://example.com/hooks/jobs',
    },
    stream: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Job streaming is not supported.',
    },
    trace: { type: ['object', 'null'] },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(jobSchema);

const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];

/** Model kinds that run as jobs. */
const MODALITIES: Partial<Record<ModelKind, JobModality>> = {
  image: 'image',
  video: 'video',
  speech: 'audio',
};

/** A validated job body. */
interface JobBody extends MediaBody {
  metadata?: Record<string, string> | null;
  webhook_url?: string | null;
  trace?: unknown;
}

/** A parsed job request. */
export interface ParsedJob {
  readonly modality: JobModality;
  readonly request: MediaRequest;
  /** All texts that can influence the output. The first is the main text, from `textField`. */
  readonly texts: readonly string[];
  readonly textField: 'prompt' | 'input';
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly webhookUrl: string | undefined;
  /** `trace` of the body. Not sent to vendors. */
  readonly trace: unknown;
}

/**
 * Parses the body of a new job. The model decides the modality.
 * @param find looks up a model by alias
 * @throws InvalidRequestError naming the first invalid field
 * @throws NotFoundError (`model` or `models`) for an unknown model
 */
export function parseJob(body: JsonObject, find: (alias: string) => Model | undefined): ParsedJob {
  assertValid(validate, body);
  const model = findModel(body, find);
  const modality = MODALITIES[model.kind];
  if (!modality) {
    throw new InvalidRequestError(
      paramOf(body, model.id),
      `${JSON.stringify(model.id)} is a model for ${model.kind}. Jobs require an image, video or speech model.`,
    );
  }
  return readJob(body, modality, model);
}

/** Parses a body validated by another schema, for a given modality. */
export function readJob(body: JobBody, modality: JobModality, model: Model): ParsedJob {
  const { metadata, webhook_url: webhookUrl, trace, ...value } = body;
  assertText(value, modality);
  if (modality === 'audio') assertSpeechFormat(value);
  if (modality === 'video') assertSeconds(value);
  const textField = textFieldOf(value);
  const text = textOf(value);
  assertLength(text, textField, modality, model);
  return {
    modality,
    request: toMediaRequest(modality, value),
    texts: [text, ...furtherTexts(value, textField)],
    textField,
    metadata: metadata ?? null,
    webhookUrl: webhookUrl ?? undefined,
    trace,
  };
}

/** Returns texts besides the prompt, such as `instructions`, whatever the vendor calls them. */
function furtherTexts(value: JsonObject, textField: string): string[] {
  const fields = Object.entries(value).filter(([name]) => name !== textField && name !== 'model');
  return fields.flatMap(([, field]) => (typeof field === 'string' ? [field] : []));
}

export function findModel(body: JsonObject, find: (alias: string) => Model | undefined): Model {
  const [alias] = readModelChain(body);
  const model = find(alias);
  if (model) return model;
  throw new NotFoundError(
    paramOf(body, alias),
    `The model ${JSON.stringify(alias)} does not exist. See GET /v1/models for available models.`,
  );
}

export function paramOf({ model }: JsonObject, alias: string): 'model' | 'models' {
  return model === alias ? 'model' : 'models';
}

function assertText({ prompt, input }: MediaBody, modality: JobModality): void {
  if (prompt != null && input != null) {
    throw new InvalidRequestError('input', 'Send `prompt` or `input`, not both.');
  }
  const text = prompt ?? input;
  const field = input == null ? (modality === 'audio' ? 'input' : 'prompt') : 'input';
  if (text == null) {
    throw new InvalidRequestError(field, `The parameter \`${field}\` is missing.`);
  }
  if (text.trim() === '') {
    throw new InvalidRequestError(
      prompt == null ? 'input' : 'prompt',
      'The text is empty. Describe the output.',
    );
  }
}

/** The catalogue states limits of models without a tokenizer in characters. */
function assertLength(
  text: string,
  field: string,
  modality: JobModality,
  { id, context_length: limit, architecture }: Model,
): void {
  if (modality === 'audio' || architecture?.tokenizer !== 'none') return;
  const length = countCodePoints(text);
  if (length <= limit) return;
  throw new InvalidRequestError(
    field,
    `\`${field}\` has ${length} characters; ${JSON.stringify(id)} takes ${limit}.`,
  );
}

function assertSpeechFormat({ response_format: format }: MediaBody): void {
  if (format == null || SPEECH_FORMATS.includes(format)) return;
  throw new InvalidRequestError(
    'response_format',
    `\`response_format\` must be one of ${SPEECH_FORMATS.join(', ')}.`,
  );
}

function assertSeconds({ seconds }: MediaBody): void {
  if (seconds == null || Number(seconds) <= MAX_VIDEO_SECONDS) return;
  throw new InvalidRequestError('seconds', `\`seconds\` must be at most ${MAX_VIDEO_SECONDS}.`);
}
