import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { MAX_COST_MODES, RECOVERIES } from '../../canonical/routing-preferences.js';

/** OpenAPI headers of a model's answer, in any dialect. */
export const GENERATION_HEADERS = {
  'x-request-id': header('UUIDv4 of this request, for GET /v1/generation.'),
  'X-Gateway-Provider': header('The provider that answered.'),
  'X-Gateway-Cost': header('Credits charged; not on streams.'),
  'X-Gateway-Output-Limit': header(
    'Output limit that the gateway set because the credits or `max_cost` do not cover the model’s longest answer.',
  ),
  'X-Gateway-Dropped-Params': header('Request fields that the provider’s API does not support.'),
  'X-Guardrail-Flagged': header('Ids of the guardrails that flagged the call.'),
  'X-Cache': header('`HIT` or `MISS`.'),
  'X-Cache-Model': header('On a hit, the vendor’s name for the model that answered.'),
  'X-RateLimit-Limit': header('Requests per minute allowed for the key.'),
  'X-RateLimit-Remaining': header('Requests left in this minute.'),
  'X-RateLimit-Reset': header('Unix seconds at which the minute ends.'),
};

export function ApiCacheHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Cache',
    required: false,
    description:
      'Allows a cached answer to an identical request, and caches a new one: `true` (for 300 seconds), or a number of seconds up to 86,400. A hit is free.',
    schema: { type: 'string', pattern: '^(true|false|[1-9][0-9]{0,4})$' },
  });
}

function ApiRecoveryHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Recovery',
    required: false,
    description:
      'Which routes may resume an interrupted stream: none, those of the same model, or also those of the other models in `models`. Overrides the tenant’s setting; `recovery` in the body takes precedence.',
    schema: { type: 'string', enum: [...RECOVERIES], default: 'off' },
  });
}

export function ApiMaxCostHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'X-Gateway-Max-Cost',
      required: false,
      description: 'Maximum credits for the call. `max_cost` in the body takes precedence.',
      schema: { type: 'string', pattern: '^[1-9][0-9]{0,14}$', example: '2000' },
    }),
    ApiHeader({
      name: 'X-Gateway-Max-Cost-Mode',
      required: false,
      description:
        'Whether to exclude routes that could cost more, or to shorten their answer to fit. `max_cost_mode` in the body takes precedence.',
      schema: { type: 'string', enum: [...MAX_COST_MODES] },
    }),
  );
}

function ApiHedgeHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Hedge-Ms',
    required: false,
    description:
      'Milliseconds without content after which a second route is called as well; the first content wins. The operator limits the share of such requests. `hedge_ms` in the body takes precedence.',
    schema: { type: 'string', pattern: '^([1-9][0-9]{0,3}|[1-5][0-9]{4}|60000)$', example: '2000' },
  });
}

function ApiSessionHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Session-Id',
    required: false,
    description:
      'Conversation id. Its turns go to one provider and account while that is healthy. `session_id` in the body takes precedence.',
    schema: { type: 'string', example: 'support-4711' },
  });
}

function ApiTraceHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'X-Gateway-Tags',
      required: false,
      description:
        'Up to 10 tags, for filtering and grouping the log and its sums. Not sent to vendors.',
      schema: { type: 'string', example: 'team=search,feature=answers' },
    }),
    ApiHeader({
      name: 'X-Gateway-Broadcast',
      required: false,
      description:
        "`true` sends the call's trace to the tenant's destinations; any other value does not.",
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'traceparent',
      required: false,
      description: 'W3C trace context that the call’s trace continues.',
      schema: { type: 'string' },
    }),
  );
}

export function ApiWorkHeaders(): MethodDecorator {
  return applyDecorators(ApiMaxCostHeaders(), ApiHedgeHeader(), ApiTraceHeaders());
}

export function ApiGeneration(): MethodDecorator {
  return applyDecorators(
    ApiCacheHeader(),
    ApiRecoveryHeader(),
    ApiSessionHeader(),
    ApiWorkHeaders(),
    ApiGenerationErrors(),
  );
}

export function ApiGenerationErrors(): MethodDecorator {
  return applyDecorators(
    ApiErrorResponse(400, 'The body is not valid; `param` names the field.'),
    ApiErrorResponse(
      402,
      'The credits, a monthly spend limit or `max_cost` do not cover the call’s possible cost. No vendor was called. The message says what would fit.',
    ),
    ApiErrorResponse(403, 'A guardrail blocked the prompt or withheld the answer.'),
    ApiErrorResponse(404, 'The model is unknown, or routing preferences exclude every provider.'),
    ApiErrorResponse(408, 'The body arrived too slowly.'),
    ApiErrorResponse(413, 'The body is larger than 20 MB.'),
    ApiErrorResponse(415, 'The body is not JSON.'),
    ApiErrorResponse(502, 'Every route failed.'),
    ApiErrorResponse(
      503,
      'No provider of the model is configured, or the database is unavailable; see `Retry-After`.',
    ),
    ApiErrorResponse(504, 'Every route timed out.'),
  );
}

function header(description: string): { description: string; schema: { type: 'string' } } {
  return { description, schema: { type: 'string' } };
}
