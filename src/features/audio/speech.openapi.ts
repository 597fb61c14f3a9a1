import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import {
  ApiGenerationErrors,
  ApiTraceHeaders,
  GENERATION_HEADERS,
} from '../../core/answers/generation.openapi.js';
import { speechSchema } from './speech.schema.js';

const CONTENT_TYPES = [
  'audio/mpeg',
  'audio/opus',
  'audio/aac',
  'audio/flac',
  'audio/wav',
  'audio/pcm',
];

/** The OpenAPI description of text to speech, with the schema that also checks it. */
export function ApiSpeech(): MethodDecorator {
  const audio = { schema: { type: 'string', format: 'binary' } } as const;
  const { 'X-Gateway-Cost': _cost, ...headers } = GENERATION_HEADERS;
  return applyDecorators(
    ApiOperation({
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
          schema: {
            type: 'string',
            example: 'data: {"type":"speech.audio.delta","audio":"…"}\n\n',
          },
        },
      },
    }),
    ApiTraceHeaders(),
    ApiGenerationErrors(),
  );
}
