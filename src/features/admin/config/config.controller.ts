import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { AccountCheckDto } from '../../../core/credentials/account-check.dto.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  MakeConfigVersionDto,
  PutConfigModelDto,
  PutConfigProviderDto,
  RollBackConfigDto,
  TestConfigProviderDto,
} from './config-change.dto.js';
import { ChangedConfigDto, ConfigVersionDto, ConfigVersionListDto } from './config.dto.js';
import { AdminConfigService } from './config.service.js';
import {
  EffectiveConfigDto,
  PricedModelListDto,
  PricedModelQueryDto,
} from './effective-config.dto.js';
import { EffectiveConfigService } from './effective-config.service.js';

const IF_MATCH = {
  name: 'If-Match',
  required: false,
  description: '`ETag` of the configuration you know. Nothing changes if there is a newer one.',
  example: '"6"',
};
const NO_SUCH_VERSION = 'The version does not exist.';
const CHANGED_MEANWHILE = '`expected_version` is not the latest version. Nothing was changed.';
const IF_MATCH_FAILED = '`If-Match` is not the latest version. Nothing was changed.';
const HOLDS = 'Applies on this instance with the response, and on all others within a second.';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/config')
export class AdminConfigController {
  constructor(
    private readonly config: AdminConfigService,
    private readonly inForce: EffectiveConfigService,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getConfig',
    summary: 'Get the effective configuration',
    description:
      'Includes the source of each value on the responding instance. The `ETag` is the version number.',
  })
  @ApiOkResponse({ type: EffectiveConfigDto })
  effective(@Res({ passthrough: true }) response: Response): EffectiveConfigDto {
    const effective = this.inForce.effective();
    response.setHeader('ETag', `"${effective.version ?? 0}"`);
    return effective;
  }

  @Get('models')
  @ApiOperation({
    operationId: 'listPricedModels',
    summary: 'List all models with their current prices',
    description:
      'Includes built-in models and those of the version and of files on the responding instance, whether or not ' +
      'their providers are configured.',
  })
  @ApiOkResponse({ type: PricedModelListDto })
  @ApiFilters()
  pricedModels(@Query() query: PricedModelQueryDto): PricedModelListDto {
    return this.inForce.pricedModels(query);
  }

  @Get('versions')
  @ApiOperation({
    operationId: 'listConfigVersions',
    summary: 'List configuration versions',
    description: 'Without their content.',
  })
  @ApiOkResponse({ type: ConfigVersionListDto })
  @ApiFilters()
  list(@Query() query: CursorPageQueryDto): Promise<ConfigVersionListDto> {
    return this.config.list(query);
  }

  @Get('versions/:number')
  @ApiOperation({
    operationId: 'getConfigVersion',
    summary: 'Get a configuration version',
    description: 'Includes the difference from the previous version. Keys are never shown.',
  })
  @ApiOkResponse({ type: ConfigVersionDto })
  @ApiParam({ name: 'number', type: 'integer', example: 7 })
  @ApiErrorResponse(404, NO_SUCH_VERSION)
  get(@Param('number') number: string): Promise<ConfigVersionDto> {
    return this.config.get(number);
  }

  @Post('versions')
  @HttpCode(200)
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'makeConfigVersion',
    summary: 'Change the configuration',
    description: `Replaces the whole configuration after validating it. ${HOLDS} Creates no version when nothing differs.`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiFields(
    MakeConfigVersionDto,
    {
      'A price, a self-hosted server and a setting': {
        document: {
          models: [
            { id: 'sandbox/echo', pricing: { completion: '0.0000009' } },
            { id: 'local/my-model', pricing: { prompt: '0.0000002', completion: '0.0000006' } },
          ],
          providers: [{ id: 'local', name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1' }],
          settings: { GATEWAY_COOLDOWN_MS: 30000 },
        },
        comment: 'new prices',
        expected_version: 6,
      },
      'Validate only': { document: { settings: { LOG_LEVEL: 'warn' } }, dry_run: true },
    },
    'providers.local.base_url',
  )
  @ApiErrorResponse(409, CHANGED_MEANWHILE)
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  make(
    @CurrentAuthor() author: Author,
    @Body() body: MakeConfigVersionDto,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    const { document, ...options } = body;
    return this.config.apply(author, document, { ...options, ifMatch });
  }

  @Post('rollback')
  @HttpCode(200)
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'rollBackConfig',
    summary: 'Roll back to an earlier configuration version',
    description: `Creates a new version with the same content. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiFields(RollBackConfigDto, { 'To version 5': { version: 5 } })
  @ApiErrorResponse(404, NO_SUCH_VERSION)
  @ApiErrorResponse(409, CHANGED_MEANWHILE)
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  rollBack(
    @CurrentAuthor() author: Author,
    @Body() { version, ...options }: RollBackConfigDto,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    return this.config.rollBack(author, version, { ...options, ifMatch });
  }

  @Put('models/*id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'putConfigModel',
    summary: 'Change a model, such as its prices',
    description: `Leaves the rest of the configuration unchanged. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', type: String, example: 'sandbox/echo' })
  @ApiFields(PutConfigModelDto, {
    'A new output price': { row: { pricing: { completion: '0.0000009' } } },
  })
  @ApiErrorResponse(409, CHANGED_MEANWHILE)
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  putModel(
    @CurrentAuthor() author: Author,
    @Param('id') id: string | string[],
    @Body() { row, ...options }: PutConfigModelDto,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    const alias = Array.isArray(id) ? id.join('/') : id;
    return this.config.putModel(author, alias, row, { ...options, ifMatch });
  }

  @Put('providers/:id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'putConfigProvider',
    summary: 'Add or change a provider',
    description: `Leaves the rest of the configuration unchanged. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', example: 'local' })
  @ApiFields(PutConfigProviderDto, {
    'A server with a chat completions API': {
      provider: {
        name: 'Our own server',
        base_url: 'http://10.0.0.7:8000/v1',
        api_key: 'sk-0123456789abcdef',
      },
    },
  })
  @ApiErrorResponse(409, CHANGED_MEANWHILE)
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  putProvider(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() { provider, ...options }: PutConfigProviderDto,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    return this.config.putProvider(author, id, provider, { ...options, ifMatch });
  }

  @Post('providers/:id/test')
  @HttpCode(200)
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'testConfigProvider',
    summary: 'Test a provider with a real call',
    description:
      'Makes a free call, such as listing models, within 10 s. Tests the entry in the request, or the current one. Stores nothing.',
  })
  @ApiOkResponse({ type: AccountCheckDto })
  @ApiParam({ name: 'id', example: 'local' })
  @ApiFields(TestConfigProviderDto, {
    "A vendor's key before storing it": {
      provider: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
    },
    'The current provider': {},
  })
  @ApiErrorResponse(404, 'The provider does not exist.')
  testProvider(
    @Param('id') id: string,
    @Body() { provider }: TestConfigProviderDto,
  ): Promise<AccountCheckDto> {
    return this.config.testProvider(id, provider ?? undefined);
  }

  @Delete('providers/:id')
  @ApiOperation({
    operationId: 'deleteConfigProvider',
    summary: 'Remove a provider from the configuration',
    description: `Requests in progress continue. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', example: 'local' })
  @ApiErrorResponse(404, 'The provider is not in the configuration.')
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  deleteProvider(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    return this.config.deleteProvider(author, id, { ifMatch });
  }
}
