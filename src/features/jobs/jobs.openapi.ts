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

/** OpenAPI description of a job submission, with the schema that also validates it. */
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
        'The model decides the kind of output. Credits are reserved now, charged when the job ' +
        'succeeds, and released in full when it fails, is cancelled or expires. Poll ' +
        '`GET /v1/jobs/{id}` until the status is final: after 2 s, then at intervals growing by 1.5.',
    }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'The same key and body return the same job.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiMaxCostHeaders(),
    ApiBody({
      schema: toOpenApiSchema(jobSchema),
      examples: {
        image: {
          summary: 'An image from the sandbox, without a vendor',
          value: { model: 'sandbox/image', prompt: 'A lighthouse in the fog' },
        },
        video: {
          summary: 'A video clip',
          value: { model: 'sandbox/video', prompt: 'A lighthouse in the fog', seconds: 4 },
        },
        speech: {
          summary: 'A long text as speech',
          value: { model: 'sandbox/speech', input: 'Once upon a time …', voice: 'alloy' },
        },
      },
    }),
    ApiAcceptedResponse({ type: JobDto, headers }),
    ApiGenerationErrors(),
    ApiErrorResponse(409, 'The `Idempotency-Key` was used with a different body.'),
  );
}

export function ApiReadJob(operationId: string, what: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId,
      summary: `Read ${what}`,
      description: 'Exempt from the inference rate limit.',
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
      description: 'Releases all reserved credits.',
    }),
    ApiParam({ name: 'id', example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' }),
    ApiOkResponse({ type, description: 'The cancelled job.' }),
    ApiErrorResponse(404, 'The tenant has no such job.'),
    ApiErrorResponse(409, 'The job has ended already.'),
  );
}
