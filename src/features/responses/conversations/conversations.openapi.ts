import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../../platform/http/validate-body.js';
import { item, itemList } from '../response-object.openapi.js';

type JsonSchema = Parameters<typeof toOpenApiSchema>[0];

/** OpenAPI description of an operation that returns a conversation. */
export function ApiConversation(
  operationId: string,
  summary: string,
  description: string,
  body?: JsonSchema,
): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ...describeBody(body, { metadata: { topic: 'demo' } }),
    ApiOkResponse({
      description: 'The conversation.',
      schema: {
        title: 'Conversation',
        type: 'object',
        required: ['id', 'object'],
        properties: {
          id: { type: 'string', example: 'conv_…' },
          object: { type: 'string', enum: ['conversation', 'conversation.deleted'] },
          created_at: { type: 'integer', description: 'Unix seconds.' },
          metadata: { type: 'object' },
          deleted: { type: 'boolean', description: 'True for a deleted conversation.' },
        },
      },
    }),
  );
}

/** OpenAPI description of an operation that returns items. */
export function ApiConversationItems(
  operationId: string,
  summary: string,
  description: string,
  body?: JsonSchema,
): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ...describeBody(body, { items: [{ role: 'user', content: 'Hello!' }] }),
    ApiOkResponse({ description: 'The items.', schema: itemList }),
    ApiErrorResponse(400, 'The body or a query parameter is invalid.'),
  );
}

/** OpenAPI description of reading one item. */
export function ApiConversationItem(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getConversationItem', summary: 'Get an item of a conversation' }),
    ApiOkResponse({ description: 'The item.', schema: item }),
    ApiErrorResponse(400, 'The query parameter is invalid.'),
  );
}

export function ApiConversationId(): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', description: 'Conversation id, such as `conv_…`.' }),
    ApiErrorResponse(404, 'The tenant has no such conversation or item.'),
  );
}

export function ApiItemId(): MethodDecorator {
  return ApiParam({ name: 'item_id', description: 'Item id from the list.' });
}

function describeBody(schema: JsonSchema | undefined, example: object): MethodDecorator[] {
  if (!schema) return [];
  return [
    ApiBody({ schema: toOpenApiSchema(schema), examples: { short: { value: example } } }),
    ApiErrorResponse(400, 'The body is invalid. `param` names the field.'),
    ApiErrorResponse(413, 'The body is larger than 20 MB.'),
    ApiErrorResponse(415, 'The body is not JSON.'),
  ];
}
