import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import {
  ApiGenerationErrors,
  ApiMaxCostHeaders,
  GENERATION_HEADERS,
} from '../../core/answers/generation.openapi.js';
import { JobDto } from './jobs.dto.js';
import { jobSchema } from './jobs.parse.js';

/** The OpenAPI description of taking a job in, with the schema that also checks it. */
export function ApiSubmitJob(): MethodDecorator {
  const {
    'X-Gateway-Cost': _cost,
    'X-Gateway-Provider': _provider,
    'X-Cache': _cache,
    ...headers
  } = GENERATION_HEADERS;
  return applyDecorators(
    ApiOperation({
      operationId: 'createJob',
      summary: 'Submit an image, video or audio job',
      description:
        'The model decides what is made. Credits are set aside now, charged when the job has ' +
        'succeeded, and given back in full when it fails, is cancelled or expires. Poll ' +
        '`GET /v1/jobs/{id}` until the status is final: after 2 s, then 1.5 times as long each time.',
    }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'The same key and body give the same job, however often they are sent.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiMaxCostHeaders(),
    ApiBody({
      schema: toOpenApiSchema(jobSchema),
      examples: {
        image: {
          summary: 'A picture, made without any vendor',
          value: { model: 'sandbox/image', prompt: 'A lighthouse in the fog' },
        },
        video: {
          summary: 'A clip',
          value: { model: 'sandbox/video', prompt: 'A lighthouse in the fog', seconds: 4 },
        },
        speech: {
          summary: 'A long text, spoken',
          value: { model: 'sandbox/speech', input: 'Once upon a time …', voice: 'alloy' },
        },
      },
    }),
    ApiAcceptedResponse({ type: JobDto, headers }),
    ApiGenerationErrors(),
    ApiErrorResponse(409, 'The `Idempotency-Key` was used with another body.'),
  );
}

export function ApiReadJob(operationId: string, what: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId,
      summary: `Read ${what}`,
      description: 'Not counted against the rate limit.',
    }),
    ApiParam({ name: 'id', example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' }),
    ApiOkResponse({ type: JobDto }),
    ApiErrorResponse(404, 'The tenant has no such job.'),
  );
}

export function ApiCancelJob(
  operationId: string,
  what: string,
  type: Type = JobDto,
): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId,
      summary: `Cancel ${what}`,
      description: 'The credits that were set aside are given back in full.',
    }),
    ApiParam({ name: 'id', example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' }),
    ApiOkResponse({ type, description: 'The job, which is `cancelled` now.' }),
    ApiErrorResponse(404, 'The tenant has no such job.'),
    ApiErrorResponse(409, 'The job has ended already.'),
  );
}
