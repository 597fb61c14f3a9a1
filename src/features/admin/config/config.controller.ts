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
  description:
    'The `ETag` of the configuration that you know; where it is another one by now, nothing is changed.',
  example: '"6"',
};
const NO_SUCH_VERSION = 'There is no such version.';
const CHANGED_MEANWHILE = '`expected_version` is not the latest version; nothing was changed.';
const IF_MATCH_FAILED = '`If-Match` is not the latest version; nothing was changed.';
const HOLDS = 'It holds on this instance when it is answered, on all others within a second.';

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
    summary: 'Read the configuration as it is in force',
    description:
      'With where each value comes from, on the instance that answers. The `ETag` is the number of the version.',
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
    summary: 'List all models with the prices in force',
    description:
      'Built-in ones, those of the version and those of files of the instance that answers, whether or not their ' +
      'providers are configured.',
  })
  @ApiOkResponse({ type: PricedModelListDto })
  @ApiFilters()
  pricedModels(@Query() query: PricedModelQueryDto): PricedModelListDto {
    return this.inForce.pricedModels(query);
  }

  @Get('versions')
  @ApiOperation({
    operationId: 'listConfigVersions',
    summary: 'List the versions of the configuration',
    description: 'Without what is in them.',
  })
  @ApiOkResponse({ type: ConfigVersionListDto })
  @ApiFilters()
  list(@Query() query: CursorPageQueryDto): Promise<ConfigVersionListDto> {
    return this.config.list(query);
  }

  @Get('versions/:number')
  @ApiOperation({
    operationId: 'getConfigVersion',
    summary: 'Read a version of the configuration',
    description: 'With its difference from the one before. Keys are never shown.',
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
    description: `All of it at once, checked before anything is stored. ${HOLDS} Where nothing differs there is no new version.`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiFields(
    MakeConfigVersionDto,
    {
      'Another price, a server of one’s own and a setting': {
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
      'Only checked': { document: { settings: { LOG_LEVEL: 'warn' } }, dry_run: true },
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
    summary: 'Go back to an earlier version of the configuration',
    description: `By a new version that says the same. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiFields(RollBackConfigDto, { 'To the fifth version': { version: 5 } })
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
    summary: 'Change one model, such as its prices',
    description: `The rest of the configuration stays. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', type: String, example: 'sandbox/echo' })
  @ApiFields(PutConfigModelDto, {
    'Another price for output': { row: { pricing: { completion: '0.0000009' } } },
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
    summary: 'Add or change one provider',
    description: `The rest of the configuration stays. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', example: 'local' })
  @ApiFields(PutConfigProviderDto, {
    'A server that speaks the chat API': {
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
    summary: 'Try one provider by a real call',
    description:
      'One that costs nothing, as a list of models, within 10 s: of the entry that comes with the request, before it is put, or of the one in force. Nothing is stored.',
  })
  @ApiOkResponse({ type: AccountCheckDto })
  @ApiParam({ name: 'id', example: 'local' })
  @ApiFields(TestConfigProviderDto, {
    "A vendor's key before it is stored": {
      provider: { name: 'Our own server', base_url: 'http://10.0.0.7:8000/v1', api_key: 'sk-…' },
    },
    'The provider in force': {},
  })
  @ApiErrorResponse(404, 'There is no such provider.')
  testProvider(
    @Param('id') id: string,
    @Body() { provider }: TestConfigProviderDto,
  ): Promise<AccountCheckDto> {
    return this.config.testProvider(id, provider);
  }

  @Delete('providers/:id')
  @ApiOperation({
    operationId: 'deleteConfigProvider',
    summary: 'Take one provider out of the configuration',
    description: `Requests that it is answering go on. ${HOLDS}`,
  })
  @ApiOkResponse({ type: ChangedConfigDto })
  @ApiHeader(IF_MATCH)
  @ApiParam({ name: 'id', example: 'local' })
  @ApiErrorResponse(404, 'The configuration has no such provider.')
  @ApiErrorResponse(412, IF_MATCH_FAILED)
  deleteProvider(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<ChangedConfigDto> {
    return this.config.deleteProvider(author, id, { ifMatch });
  }
}
