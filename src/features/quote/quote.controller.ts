import { Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { modelFieldsSchema } from '../../canonical/routing-fields.js';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliverFree } from '../../core/answers/deliver.js';
import { ApiCacheHeader, ApiMaxCostHeaders } from '../../core/answers/generation.openapi.js';
import { QuotesService } from '../../core/answers/quotes.service.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { QuoteDto, QuoteQueryDto, toQuote } from './quote.dto.js';

/** A generic schema: each endpoint validates its own body. */
const QUOTED_BODY = {
  title: 'QuoteRequest',
  type: 'object',
  description: 'The body of a call to `endpoint`.',
  additionalProperties: true,
  properties: { ...modelFieldsSchema },
} as const;

/** Quotes the cost of a call without making it. */
@ApiTags('Inference')
@Controller(['v1', 'api/v1'])
@Authenticated('routing', { acceptsXApiKey: true })
export class QuoteController {
  constructor(private readonly quotes: QuotesService) {}

  @Post('quote')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'createQuote',
    summary: 'Quote the cost of a call',
    description:
      'Accepts the body and headers of the call itself. Returns the routes that it would try, in order, each with its minimum, likely and maximum cost, and the excluded routes with the reason. Calls no vendor, reserves, charges and logs nothing, does not count against rate limits, and skips guardrails. The maximum cost is what the call would reserve now.',
  })
  @ApiBody({
    schema: toOpenApiSchema(QUOTED_BODY),
    examples: {
      chat: {
        summary: 'A chat, as it would be sent to /v1/chat/completions',
        value: {
          model: 'sandbox/echo',
          messages: [{ role: 'user', content: 'Hello!' }],
          max_tokens: 100,
        },
      },
    },
  })
  @ApiOkResponse({ type: QuoteDto })
  @ApiCacheHeader()
  @ApiMaxCostHeaders()
  @ApiErrorResponse(400, 'The endpoint does not accept the body; `param` names the field.')
  @ApiErrorResponse(403, 'The key is not a routing key, or a model list excludes the model.')
  @ApiErrorResponse(404, 'The model or a referenced earlier response is unknown.')
  @ApiErrorResponse(408, 'The body arrived too slowly.')
  @ApiErrorResponse(413, 'The body is larger than 20 MB.')
  @ApiErrorResponse(415, 'The body is not JSON.')
  create(
    @Req() request: GatewayRequest,
    @Res() response: Response,
    @Query() { endpoint }: QuoteQueryDto,
  ): Promise<void> {
    return deliverFree(request, response, async (call) => {
      const quote = await this.quotes.quote(call, await readJsonBody(call.body), endpoint);
      return { provider: undefined, body: toQuote(quote) };
    });
  }
}
