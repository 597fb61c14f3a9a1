import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { ApiErrorResponse, errorDetailSchema } from '../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import {
  ApiWorkHeaders,
  GENERATION_HEADERS,
  ApiGenerationErrors,
} from '../../core/answers/generation.openapi.js';
import { transcriptionSchema } from './transcription.parse.js';
import { speechSchema } from './speech.parse.js';

/** Client generators don't handle audio types, so the first type is plain binary. */
const CONTENT_TYPES = [
  'application/octet-stream',
  'audio/mpeg',
  'audio/opus',
  'audio/aac',
  'audio/flac',
  'audio/wav',
  'audio/pcm',
];

/** Form fields are strings and never null. */
const fields = Object.entries(transcriptionSchema.properties).map(
  ([name, schema]): [string, object] => {
    const { type, ...others } = schema;
    const values = 'enum' in others ? { enum: others.enum.filter((value) => value !== null) } : {};
    return [name, { ...others, ...values, type: [type].flat().find((one) => one !== 'null') }];
  },
);

const formSchema = {
  ...transcriptionSchema,
  required: ['file'],
  properties: {
    file: {
      type: 'string',
      format: 'binary',
      description: 'flac, mp3, mp4, m4a, ogg, wav or webm; 25 MB at most.',
    },
    ...Object.fromEntries<object>(fields),
  },
};

/** Fields that translations don't support. */
const TRANSCRIPTION_ONLY = new Set(['language', 'timestamp_granularities', 'stream']);
const translationProperties = Object.fromEntries(
  Object.entries<object>(formSchema.properties).filter(([name]) => !TRANSCRIPTION_ONLY.has(name)),
);

const transcript = {
  title: 'Transcription',
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string' },
    usage: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['duration', 'tokens'] },
        seconds: { type: 'number' },
      },
    },
  },
};

const IN_ANY_ORDER = 'Accepts a multipart form. Its parts may come in any order.';

const plain = { 'text/plain': { schema: { type: 'string' } } } as const;

/** JSON Schema of the data of one event in a streamed transcript. */
const transcriptEvent = {
  title: 'TranscriptionStreamEvent',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      enum: ['transcript.text.delta', 'transcript.text.segment', 'transcript.text.done', 'error'],
    },
    delta: { type: 'string', description: 'In delta events: a piece of the transcript.' },
    text: { type: 'string', description: 'In the last event: the whole transcript.' },
    usage: { type: 'object', description: 'In the last event.' },
    error: errorDetailSchema,
  },
  example: { type: 'transcript.text.delta', delta: 'Hello' },
};

const tokens = { type: 'integer' };

/** JSON Schema of the data of one event in streamed speech. */
const speechEvent = {
  title: 'SpeechStreamEvent',
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['speech.audio.delta', 'speech.audio.done', 'error'] },
    audio: { type: 'string', description: 'In delta events: a piece of the audio, in base64.' },
    usage: {
      type: 'object',
      description: 'In the last event.',
      properties: { input_tokens: tokens, output_tokens: tokens, total_tokens: tokens },
    },
    error: errorDetailSchema,
  },
  example: { type: 'speech.audio.delta', audio: '…' },
};

/** Describes speech to text for OpenAPI. */
export function ApiTranscription(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createTranscription',
      summary: 'Transcribe audio',
      description: IN_ANY_ORDER,
    }),
    ApiBody({ schema: toOpenApiSchema(formSchema) }),
    ApiOkResponse({
      description: 'The transcript in the requested format, or its events.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: transcript },
        ...plain,
        'text/event-stream': { schema: toOpenApiSchema(transcriptEvent) },
      },
    }),
    ApiFormErrors(),
  );
}

/** Describes speech to English text for OpenAPI. */
export function ApiTranslation(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createTranslation',
      summary: 'Translate audio into English',
      description: IN_ANY_ORDER,
    }),
    ApiBody({
      schema: toOpenApiSchema({
        ...formSchema,
        title: 'TranslationRequest',
        properties: translationProperties,
      }),
    }),
    ApiOkResponse({
      description: 'The translation in the requested format.',
      headers: GENERATION_HEADERS,
      content: { 'application/json': { schema: transcript }, ...plain },
    }),
    ApiFormErrors(),
  );
}

function ApiFormErrors(): MethodDecorator {
  return applyDecorators(
    ApiConsumes('multipart/form-data'),
    ApiWorkHeaders(),
    ApiErrorResponse(400, 'The form or its file is invalid; `param` names the field.'),
    ApiErrorResponse(402, 'The credits do not cover the maximum cost. No vendor was called.'),
    ApiErrorResponse(404, 'The model is unknown, or routing preferences leave no provider.'),
    ApiErrorResponse(408, 'The form arrived too slowly.'),
    ApiErrorResponse(413, 'The file is larger than 25 MB.'),
    ApiErrorResponse(415, 'The body is not a multipart form.'),
    ApiErrorResponse(502, 'Every route failed.'),
    ApiErrorResponse(503, 'No provider of the model is configured.'),
    ApiErrorResponse(504, 'Every route timed out.'),
  );
}

/** Describes text to speech for OpenAPI, with the schema that also validates the body. */
export function ApiSpeech(): MethodDecorator {
  const audio = { schema: { type: 'string', format: 'binary' } } as const;
  const { 'X-Gateway-Cost': _cost, ...headers } = GENERATION_HEADERS;
  return applyDecorators(
    ApiOperation({
      operationId: 'createSpeech',
      summary: 'Create speech',
      description:
        'Streams the audio as it is generated. The connection is closed when audio is interrupted.',
    }),
    ApiBody({
      schema: toOpenApiSchema(speechSchema),
      examples: {
        sandbox: {
          summary: 'A first call to the sandbox, without a vendor',
          value: { model: 'sandbox/speech', input: 'Hello!', voice: 'alloy' },
        },
      },
    }),
    ApiOkResponse({
      description: 'The audio, or with `stream_format: "sse"` events that carry it.',
      headers,
      content: {
        ...Object.fromEntries(CONTENT_TYPES.map((type) => [type, audio])),
        'text/event-stream': {
          schema: toOpenApiSchema(speechEvent),
        },
      },
    }),
    ApiWorkHeaders(),
    ApiGenerationErrors(),
  );
}
