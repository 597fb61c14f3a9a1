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

/** Generators of clients know no type of audio, so the first one is that of any bytes. */
const CONTENT_TYPES = [
  'application/octet-stream',
  'audio/mpeg',
  'audio/opus',
  'audio/aac',
  'audio/flac',
  'audio/wav',
  'audio/pcm',
];

/** Fields of a form are texts, of which none is null. */
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

/** What the vendors' endpoint for translations does not take. */
const OF_TRANSCRIPTIONS = new Set(['language', 'timestamp_granularities', 'stream']);
const translationProperties = Object.fromEntries(
  Object.entries<object>(formSchema.properties).filter(([name]) => !OF_TRANSCRIPTIONS.has(name)),
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

const IN_ANY_ORDER = 'Takes a multipart form whose parts may come in any order.';

const plain = { 'text/plain': { schema: { type: 'string' } } } as const;

/** JSON Schema of one event's data in a transcript that comes as events. */
const transcriptEvent = {
  title: 'TranscriptionStreamEvent',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      enum: ['transcript.text.delta', 'transcript.text.segment', 'transcript.text.done', 'error'],
    },
    delta: { type: 'string', description: 'Of a delta: a piece of the transcript.' },
    text: { type: 'string', description: 'Of the last event: the whole transcript.' },
    usage: { type: 'object', description: 'Of the last event.' },
    error: errorDetailSchema,
  },
  example: { type: 'transcript.text.delta', delta: 'Hello' },
};

const tokens = { type: 'integer' };

/** JSON Schema of one event's data in speech that comes as events. */
const speechEvent = {
  title: 'SpeechStreamEvent',
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['speech.audio.delta', 'speech.audio.done', 'error'] },
    audio: { type: 'string', description: 'Of a delta: a piece of the audio, in base64.' },
    usage: {
      type: 'object',
      description: 'Of the last event.',
      properties: { input_tokens: tokens, output_tokens: tokens, total_tokens: tokens },
    },
    error: errorDetailSchema,
  },
  example: { type: 'speech.audio.delta', audio: '…' },
};

/** The OpenAPI description of speech to text. */
export function ApiTranscription(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createTranscription',
      summary: 'Transcribe audio',
      description: IN_ANY_ORDER,
    }),
    ApiBody({ schema: toOpenApiSchema(formSchema) }),
    ApiOkResponse({
      description: 'The transcript in the format that was asked for, or its events.',
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

/** The OpenAPI description of speech to English text. */
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
      description: 'The translation in the format that was asked for.',
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
    ApiErrorResponse(400, 'The form or its file is not valid; `param` names the field.'),
    ApiErrorResponse(402, 'The credits do not cover what the call may cost; nothing was called.'),
    ApiErrorResponse(404, 'The model is unknown, or routing preferences leave no provider.'),
    ApiErrorResponse(408, 'The form arrived too slowly.'),
    ApiErrorResponse(413, 'The file is larger than 25 MB.'),
    ApiErrorResponse(415, 'The body is no multipart form.'),
    ApiErrorResponse(502, 'Every route failed.'),
    ApiErrorResponse(503, 'No provider of the model is configured.'),
    ApiErrorResponse(504, 'Every route timed out.'),
  );
}

/** The OpenAPI description of text to speech, with the schema that also checks it. */
export function ApiSpeech(): MethodDecorator {
  const audio = { schema: { type: 'string', format: 'binary' } } as const;
  const { 'X-Gateway-Cost': _cost, ...headers } = GENERATION_HEADERS;
  return applyDecorators(
    ApiOperation({
      operationId: 'createSpeech',
      summary: 'Speak a text',
      description:
        'Answers with the audio as it is made. Audio that breaks off after its first byte ends with the connection.',
    }),
    ApiBody({
      schema: toOpenApiSchema(speechSchema),
      examples: {
        sandbox: {
          summary: 'A first call, answered without any vendor',
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
