import { Controller, Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { ApiFilters } from '../../core/access/customer.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { PROVIDER_TYPES } from '../../platform/config/app-config.js';
import { ProviderListDto } from './providers.dto.js';
import { ProvidersService } from './providers.service.js';
import { Members } from '../../core/access/roles.js';

@ApiTags('Catalogue')
@Controller(['v1/providers', 'api/v1/providers'])
@Authenticated('any')
@Members('any')
export class ProvidersController {
  constructor(private readonly providers: ProvidersService) {}

  @Get()
  @ApiOperation({ operationId: 'listProviders', summary: 'List the configured providers' })
  @ApiQuery({
    name: 'type',
    required: false,
    description: `Only providers of this type: ${PROVIDER_TYPES.join(', ')}. Any other value returns an empty list.`,
    schema: { type: 'string' },
  })
  @ApiQuery({
    name: 'include_health',
    required: false,
    description:
      '`true` probes the providers, which takes up to about 2 s, and adds `health` and `status`.',
    example: 'true',
  })
  @ApiFilters()
  @ApiOkResponse({ type: ProviderListDto })
  async list(
    @Req() { query: { type, include_health: includeHealth } }: GatewayRequest,
  ): Promise<ProviderListDto> {
    if (type !== undefined && typeof type !== 'string') {
      throw new InvalidRequestError('type', '`type` must be a single provider type.');
    }
    if (includeHealth === 'true') return { data: await this.providers.listWithHealth(type) };
    return { data: await this.providers.list(type) };
  }
}
