import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGeneration, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { compactSchema, createResponseSchema } from './create-response.schema.js';
import { responseEventSchema } from './response-events.openapi.js';
import { item, itemList, response, usage } from './response-object.openapi.js';

/** The OpenAPI description of creating a response, with the schema that also checks it. */
export function ApiCreateResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createResponse',
      summary: 'Create a response',
      description:
        'Takes Responses-style bodies. `previous_response_id` goes on from a stored response, whichever model gave it; `store: false` keeps nothing. `stream: true` answers with server-sent events that end in `response.completed`, `response.incomplete` or `response.failed`.',
    }),
    ApiBody({
      schema: toOpenApiSchema(createResponseSchema),
      examples: {
        sandbox: {
          summary: 'A first call, answered without any vendor',
          value: { model: 'sandbox/echo', input: 'Hello!' },
        },
        items: {
          summary: 'Items, streamed, with fallback',
          value: {
            models: ['sandbox/fault-500', 'sandbox/words'],
            input: [{ role: 'user', content: [{ type: 'input_text', text: '20 words, please' }] }],
            stream: true,
          },
        },
      },
    }),
    ApiOkResponse({
      description: 'The response, or its stream of events.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: response },
        'text/event-stream': { schema: toOpenApiSchema(responseEventSchema({ response, item })) },
      },
    }),
    ApiGeneration(),
    ApiErrorResponse(
      404,
      'The model or the previous response is unknown, or routing preferences leave no provider.',
    ),
  );
}

export function ApiRetrieveResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getResponse',
      summary: 'Get a stored response',
      description:
        'As it was sent. It can be read as soon as its answer has ended, and from its beginning where it is made in the background.',
    }),
    ApiResponseId(),
    ApiOkResponse({ description: 'The response.', schema: response }),
    ApiErrorResponse(400, 'A query parameter is not valid.'),
  );
}

export function ApiCancelResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'cancelResponse',
      summary: 'Cancel a response in the background',
      description:
        'What the model made until then is charged. Of a response that has ended nothing changes.',
    }),
    ApiResponseId(),
    ApiOkResponse({ description: 'The response.', schema: response }),
    ApiErrorResponse(400, 'The response was not made in the background.'),
  );
}

export function ApiDeleteResponse(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'deleteResponse',
      summary: 'Delete a stored response',
      description: 'Turns that followed it stay, but no further turn can follow them.',
    }),
    ApiResponseId(),
    ApiErrorResponse(409, 'It is still being made in the background.'),
    ApiOkResponse({
      description: 'It is gone.',
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
      summary: "List a stored response's input",
      description: 'The items of its own request; those of earlier turns are with their responses.',
    }),
    ApiResponseId(),
    ApiOkResponse({
      description: 'One page of the items.',
      schema: itemList,
    }),
    ApiErrorResponse(400, 'A query parameter is not valid.'),
  );
}

/** The description of counting a request's input. */
export function ApiCountInputTokens(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'countResponseInputTokens',
      summary: "Count the tokens of a response's input",
      description:
        'Takes the body of a response. Counted by the vendor of the first route where it counts, which `X-Gateway-Provider` then names; else by a public vocabulary (o200k), pictures, pages and seconds of audio at their bounds. Costs nothing.',
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

/** The description of compacting a conversation. */
export function ApiCompact(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'compactResponse',
      summary: 'Compact a conversation',
      description:
        'Has the model write a summary of `input`, and of what `previous_response_id` names, and answers with the messages of the user and a `compaction` item that holds the summary, encrypted. Send the items in place of the conversation, to any model. Billed as an ordinary answer; nothing is stored.',
    }),
    ApiBody({
      schema: toOpenApiSchema(compactSchema),
      examples: { sandbox: { value: { model: 'sandbox/echo', input: 'Hello!' } } },
    }),
    ApiOkResponse({
      description: 'The items to go on with.',
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
    ApiErrorResponse(402, 'The credits do not reach for the summary.'),
    ApiErrorResponse(502, 'No provider gave a summary.'),
  );
}

const REFUSALS = [
  [400, 'The body is not valid; `param` names the field.'],
  [404, 'The model or what the body refers to is unknown.'],
  [413, 'The body is larger than 20 MB.'],
  [415, 'The body is not JSON.'],
] as const;

function ApiResponseId(): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', description: 'The id of the response, as `resp_…`.' }),
    ApiErrorResponse(404, 'The tenant has no such response.'),
  );
}
