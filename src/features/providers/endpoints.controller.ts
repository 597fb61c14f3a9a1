import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { Members } from '../../core/access/roles.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ModelEndpointsAnswerDto } from './endpoints.dto.js';
import { EndpointsService } from './endpoints.service.js';
import { ALIAS_IN_PATH, aliasOf } from './models.controller.js';

@ApiTags('Catalogue')
@Controller(['v1/models', 'api/v1/models'])
@Authenticated('any', { acceptsXApiKey: true })
@Members('any')
export class EndpointsController {
  constructor(private readonly endpoints: EndpointsService) {}

  @Get('*id/endpoints')
  @ApiOperation({
    operationId: 'listModelEndpoints',
    summary: 'List providers of a model with price, health and speed',
    description:
      'In the order of `provider.sort`. Figures cover all callers on shared capacity; for a BYOK account, only your calls.',
  })
  @ApiParam(ALIAS_IN_PATH)
  @ApiOkResponse({ type: ModelEndpointsAnswerDto })
  @ApiErrorResponse(404, 'There is no such model, or no configured provider serves it.')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string | string[],
  ): Promise<ModelEndpointsAnswerDto> {
    return { data: await this.endpoints.list(caller, aliasOf(id)) };
  }
}
