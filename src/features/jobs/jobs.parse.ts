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
/** Code points; models of images and videos take far less, and long speech is made in pieces. */
const MAX_TEXT_CHARACTERS = 200_000;

const MAX_IMAGES = 10;

const MAX_VIDEO_SECONDS = 60;

const text = { type: ['string', 'null'], minLength: 1, maxLength: MAX_TEXT_CHARACTERS } as const;

/** What images and jobs share. */
export const imageFieldsSchema = {
  n: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MAX_IMAGES,
    default: 1,
    description: 'Pictures to make.',
  },
  size: { type: ['string', 'null'], maxLength: 64, example: '1024x1024' },
  quality: { type: ['string', 'null'], maxLength: 64 },
} as const;

/**
 * JSON Schema of the body of a new job, for the check and for the OpenAPI description. Fields that
 * are not named here are the model's own and go to its vendor.
 */
export const jobSchema = {
  title: 'JobRequest',
  type: 'object',
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: {
      ...text,
      description: 'What to make; `input` means the same. One of the two is required.',
      example: 'A lighthouse in the fog',
    },
    input: { ...text, description: 'The text to speak, or the prompt.' },
    ...imageFieldsSchema,
    seconds: {
      type: ['integer', 'string', 'null'],
      minimum: 1,
      maximum: MAX_VIDEO_SECONDS,
      pattern: '^[1-9]\\d?$',
      description: 'Length of a video; left out, the model decides.',
    },
    voice: {
      type: ['string', 'object', 'null'],
      minLength: 1,
      maxLength: 256,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
      description: 'For speech; left out, `alloy`.',
    },
    response_format: {
      type: ['string', 'null'],
      maxLength: 64,
      description: 'For speech: `mp3` (default), `opus`, `aac`, `flac`, `wav` or `pcm`.',
    },
    speed: { type: ['number', 'null'], minimum: 0.25, maximum: 4 },
    instructions: { type: ['string', 'null'], maxLength: 10_000 },
    metadata: {
      type: ['object', 'null'],
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
      description: 'Up to 16 texts of your own, given back with the job.',
    },
    webhook_url: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 2_048,
      description: 'Where to send the job once, when it has ended.',
      example: 'https://example.com/hooks/jobs',
    },
    stream: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Jobs are not streamed.',
    },
    trace: { type: ['object', 'null'] },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(jobSchema);

const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];

/** The kinds of models that jobs are for. */
const MODALITIES: Partial<Record<ModelKind, JobModality>> = {
  image: 'image',
  video: 'video',
  speech: 'audio',
};

/** The body of a job that its schema has let pass. */
interface JobBody extends MediaBody {
  metadata?: Record<string, string> | null;
  webhook_url?: string | null;
  trace?: unknown;
}

/** A new job as it was asked for. */
export interface ParsedJob {
  readonly modality: JobModality;
  readonly request: MediaRequest;
  /** All that may steer the work: first the text to make something of, which came in `textField`. */
  readonly texts: readonly string[];
  readonly textField: 'prompt' | 'input';
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly webhookUrl: string | undefined;
  /** The body's own, which goes to no vendor. */
  readonly trace: unknown;
}

/**
 * Reads the body of a new job. Its model decides what is made.
 *
 * @param find looks a model up by its alias
 * @throws InvalidRequestError naming the first field at fault
 * @throws NotFoundError (`model`, or `models`) for an unknown model
 */
export function parseJob(body: JsonObject, find: (alias: string) => Model | undefined): ParsedJob {
  assertValid(validate, body);
  const model = findModel(body, find);
  const modality = MODALITIES[model.kind];
  if (!modality) {
    throw new InvalidRequestError(
      paramOf(body, model.id),
      `${JSON.stringify(model.id)} is a model for ${model.kind}; jobs take models of images, videos and speech.`,
    );
  }
  return readJob(body, modality, model);
}

/** The same for a body that its own schema has let pass, and a modality that is given. */
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

/** What a model takes besides its prompt, such as `instructions`, whatever its vendor calls it. */
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
    `The model ${JSON.stringify(alias)} does not exist here; GET /v1/models lists those that do.`,
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
      'The text is empty; say what is to be made.',
    );
  }
}

/** The catalogue has the limit of models without a tokenizer in characters. */
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
