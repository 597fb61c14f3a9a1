import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGeneration, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { compactSchema, createResponseSchema } from './create-response.schema.js';
import { responseEventSchema } from './response-events.openapi.js';
import { item, itemList, response, usage } from './response-object.openapi.js';

/** OpenAPI description of creating a response, with the schema that also validates it. */
export function ApiCreateResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createResponse',
      summary: 'Create a response',
      description:
        'Accepts Responses-style bodies. `previous_response_id` continues a stored response, whichever model generated it; `store: false` stores nothing. `stream: true` returns server-sent events that end with `response.completed`, `response.incomplete` or `response.failed`.',
    }),
    ApiBody({
      schema: toOpenApiSchema(createResponseSchema),
      examples: {
        sandbox: {
          summary: 'A first call to the sandbox, without a vendor',
          value: { model: 'sandbox/echo', input: 'Hello!' },
        },
        items: {
          summary: 'Items, streaming and a fallback',
          value: {
            models: ['sandbox/fault-500', 'sandbox/words'],
            input: [{ role: 'user', content: [{ type: 'input_text', text: '20 words, please' }] }],
            stream: true,
          },
        },
      },
    }),
    ApiOkResponse({
      description: 'The response, or its event stream.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: response },
        'text/event-stream': { schema: toOpenApiSchema(responseEventSchema({ response, item })) },
      },
    }),
    ApiGeneration(),
    ApiErrorResponse(
      404,
      'The model or the previous response is unknown, or routing preferences exclude all providers.',
    ),
  );
}

export function ApiRetrieveResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getResponse',
      summary: 'Get a stored response',
      description:
        'Returns it as it was sent. Available once it has ended; background responses are available from the start.',
    }),
    ApiResponseId(),
    ApiOkResponse({ description: 'The response.', schema: response }),
    ApiErrorResponse(400, 'A query parameter is invalid.'),
  );
}

export function ApiCancelResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'cancelResponse',
      summary: 'Cancel a background response',
      description:
        'Output generated so far is charged. Has no effect on a response that has ended.',
    }),
    ApiResponseId(),
    ApiOkResponse({ description: 'The response.', schema: response }),
    ApiErrorResponse(400, 'The response was not created with `background: true`.'),
  );
}

export function ApiDeleteResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'deleteResponse',
      summary: 'Delete a stored response',
      description: 'Later turns stay, but cannot be continued.',
    }),
    ApiResponseId(),
    ApiErrorResponse(409, 'The background response is still running.'),
    ApiOkResponse({
      description: 'The response has been deleted.',
      schema: {
        title: 'DeletedResponse',
        type: 'object',
        properties: {
          id: { type: 'string' },
          object: { type: 'string', enum: ['response'] },
          deleted: { type: 'boolean' },
        },
      },
    }),
  );
}

export function ApiListInputItems(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'listResponseInputItems',
      summary: "List a stored response's input items",
      description: 'Returns the items of its own request. Earlier turns have theirs.',
    }),
    ApiResponseId(),
    ApiOkResponse({
      description: 'A page of items.',
      schema: itemList,
    }),
    ApiErrorResponse(400, 'A query parameter is invalid.'),
  );
}

/** OpenAPI description of token counting. */
export function ApiCountInputTokens(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'countResponseInputTokens',
      summary: "Count the tokens of a response's input",
      description:
        "Takes the body of a response. Uses the first route's vendor if it can count, which `X-Gateway-Provider` then names; otherwise a public vocabulary (o200k), with upper bounds for images, pages and audio. Free of charge.",
    }),
    ApiBody({
      schema: toOpenApiSchema(createResponseSchema),
      examples: { sandbox: { value: { model: 'sandbox/echo', input: 'Hello!' } } },
    }),
    ApiOkResponse({
      description: 'The number of input tokens.',
      schema: {
        title: 'ResponseInputTokens',
        type: 'object',
        required: ['object', 'input_tokens'],
        properties: {
          object: { type: 'string', enum: ['response.input_tokens'] },
          input_tokens: { type: 'integer', example: 2 },
        },
      },
    }),
    ...REFUSALS.map(([status, description]) => ApiErrorResponse(status, description)),
  );
}

/** OpenAPI description of compaction. */
export function ApiCompact(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'compactResponse',
      summary: 'Compact a conversation',
      description:
        "Has the model summarize `input` and the conversation of `previous_response_id`. Returns the user's messages and a `compaction` item with the encrypted summary. Send these items instead of the conversation, to any model. Billed like any answer; nothing is stored.",
    }),
    ApiBody({
      schema: toOpenApiSchema(compactSchema),
      examples: { sandbox: { value: { model: 'sandbox/echo', input: 'Hello!' } } },
    }),
    ApiOkResponse({
      description: 'The compacted items.',
      schema: {
        title: 'ResponseCompaction',
        type: 'object',
        required: ['id', 'object', 'created_at', 'output', 'usage'],
        properties: {
          id: { type: 'string', example: 'resp_…' },
          object: { type: 'string', enum: ['response.compaction'] },
          created_at: { type: 'integer', description: 'Unix seconds.' },
          output: { type: 'array', items: item },
          usage,
        },
      },
    }),
    ...REFUSALS.map(([status, description]) => ApiErrorResponse(status, description)),
    ApiErrorResponse(402, 'Insufficient credits for the summary.'),
    ApiErrorResponse(502, 'No provider returned a summary.'),
  );
}

const REFUSALS = [
  [400, 'The body is invalid. `param` names the field.'],
  [404, 'The model, or an object that the body refers to, is unknown.'],
  [413, 'The body is larger than 20 MB.'],
  [415, 'The body is not JSON.'],
] as const;

function ApiResponseId(): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', description: 'Response id, such as `resp_…`.' }),
    ApiErrorResponse(404, 'The tenant has no such response.'),
  );
}
