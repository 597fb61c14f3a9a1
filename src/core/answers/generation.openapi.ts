import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { MAX_COST_MODES, RECOVERIES } from '../../canonical/routing-preferences.js';

/** The headers of an answer by a model, whatever the dialect, for the OpenAPI description. */
export const GENERATION_HEADERS = {
  'x-request-id': header('UUIDv4 of this request, for GET /v1/generation.'),
  'X-Gateway-Provider': header('The provider that answered.'),
  'X-Gateway-Cost': header('Credits charged; not on streams.'),
  'X-Gateway-Output-Limit': header(
    'Output tokens that the vendor was told to stop at, because the credits do not reach for the model’s longest answer where the caller named no limit, or `max_cost` does not.',
  ),
  'X-Gateway-Dropped-Params': header('Request fields that the provider’s dialect cannot take.'),
  'X-Guardrail-Flagged': header('Ids of the guardrails that flagged the call.'),
  'X-Cache': header('`HIT` or `MISS`.'),
  'X-Cache-Model': header('On a hit, the vendor’s name of the model that answered.'),
  'X-RateLimit-Limit': header('Requests per minute of the key.'),
  'X-RateLimit-Remaining': header('What is left of them in this minute.'),
  'X-RateLimit-Reset': header('Unix seconds at which the minute ends.'),
};

/** The header that asks for the cache. */
export function ApiCacheHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Cache',
    required: false,
    description:
      'Whether the answer may be one that was given to the same request before, and is kept if not: `true` (for 300 seconds), or the seconds, 86,400 at most. A hit costs nothing.',
    schema: { type: 'string', pattern: '^(true|false|[1-9][0-9]{0,4})$' },
  });
}

/** The header that says who goes on with an answer that breaks off. */
function ApiRecoveryHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Recovery',
    required: false,
    description:
      'Who goes on with a stream that breaks off after its first content, where the body has no `recovery`, and before what the tenant has set: nobody, another route of the same model, or one of the other models in `models` too.',
    schema: { type: 'string', enum: [...RECOVERIES], default: 'off' },
  });
}

/** The headers that say what a call may cost at most, where the body does not. */
export function ApiMaxCostHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'X-Gateway-Max-Cost',
      required: false,
      description: 'Credits that the call costs at most, where the body has no `max_cost`.',
      schema: { type: 'string', pattern: '^[1-9][0-9]{0,14}$', example: '2000' },
    }),
    ApiHeader({
      name: 'X-Gateway-Max-Cost-Mode',
      required: false,
      description:
        'Whether routes that could cost more are left out, or asked for a shorter answer that fits, where the body has no `max_cost_mode`.',
      schema: { type: 'string', enum: [...MAX_COST_MODES] },
    }),
  );
}

/** The header that says after which silence a second route is asked. */
function ApiHedgeHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Gateway-Hedge-Ms',
    required: false,
    description:
      'After how many milliseconds without content another route is asked as well, where the body has no `hedge_ms`; the first content wins. No more requests get it than the operator allows.',
    schema: { type: 'string', pattern: '^([1-9][0-9]{0,3}|[1-5][0-9]{4}|60000)$', example: '2000' },
  });
}

/** The header that names the conversation which a call belongs to. */
function ApiSessionHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Session-Id',
    required: false,
    description:
      'A name for the conversation, where the body has no `session_id`: its turns go to one provider and account as long as it is well.',
    schema: { type: 'string', example: 'support-4711' },
  });
}

/** The headers with which a caller says what its call is part of, and asks for the call's trace. */
function ApiTraceHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'X-Gateway-Tags',
      required: false,
      description:
        'Up to 10 tags, by which the log and its sums are filtered and grouped; no vendor gets them.',
      schema: { type: 'string', example: 'team=search,feature=answers' },
    }),
    ApiHeader({
      name: 'X-Gateway-Broadcast',
      required: false,
      description: "`true` sends the call's trace to the tenant's destinations; all else does not.",
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'traceparent',
      required: false,
      description: 'W3C trace context, which that trace continues.',
      schema: { type: 'string' },
    }),
  );
}

/** The headers of every call of a model, whatever it is asked for. */
export function ApiWorkHeaders(): MethodDecorator {
  return applyDecorators(ApiMaxCostHeaders(), ApiHedgeHeader(), ApiTraceHeaders());
}

/** The headers of a call that answers a conversation, and how it fails. */
export function ApiGeneration(): MethodDecorator {
  return applyDecorators(
    ApiCacheHeader(),
    ApiRecoveryHeader(),
    ApiSessionHeader(),
    ApiWorkHeaders(),
    ApiGenerationErrors(),
  );
}

/** The ways in which a call of a model fails, beside those of the key and the rate limit. */
export function ApiGenerationErrors(): MethodDecorator {
  return applyDecorators(
    ApiErrorResponse(400, 'The body is not valid; `param` names the field.'),
    ApiErrorResponse(
      402,
      'The credits, a monthly spend limit or `max_cost` do not cover what the call may cost; nothing was called. The message says what would fit.',
    ),
    ApiErrorResponse(403, 'A guardrail blocks the prompt, or withholds the answer.'),
    ApiErrorResponse(404, 'The model is unknown, or routing preferences leave no provider.'),
    ApiErrorResponse(408, 'The body arrived too slowly.'),
    ApiErrorResponse(413, 'The body is larger than 20 MB.'),
    ApiErrorResponse(415, 'The body is not JSON.'),
    ApiErrorResponse(502, 'Every route failed.'),
    ApiErrorResponse(
      503,
      'No provider of the model is configured, or the database is away; see `Retry-After`.',
    ),
    ApiErrorResponse(504, 'Every route timed out.'),
  );
}

function header(description: string): { description: string; schema: { type: 'string' } } {
  return { description, schema: { type: 'string' } };
}
