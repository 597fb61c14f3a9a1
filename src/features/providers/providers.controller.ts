import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { PROVIDER_TYPES } from '../../platform/config/app-config.js';
import { ProviderListDto } from './providers.dto.js';
import { ProvidersService } from './providers.service.js';

@ApiTags('Catalogue')
@Controller(['v1/providers', 'api/v1/providers'])
@Authenticated('any')
export class ProvidersController {
  constructor(private readonly providers: ProvidersService) {}

  @Get()
  @ApiOperation({ operationId: 'listProviders', summary: 'List the configured providers' })
  @ApiQuery({
    name: 'type',
    required: false,
    enum: PROVIDER_TYPES,
    description: 'Only providers of this type; one that does not exist gives an empty list.',
  })
  @ApiQuery({
    name: 'include_health',
    required: false,
    description:
      '`true` probes the providers, which takes up to about 2 s, and adds `health` and `status`.',
    example: 'true',
  })
  @ApiOkResponse({ type: ProviderListDto })
  async list(
    @Query('type') type?: string,
    @Query('include_health') includeHealth?: string,
  ): Promise<ProviderListDto> {
    if (includeHealth === 'true') return { data: await this.providers.listWithHealth(type) };
    return { data: this.providers.list(type) };
  }
}
