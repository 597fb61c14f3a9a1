import { applyDecorators, Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields } from '../../../core/access/customer.decorator.js';
import { KeyDirectory } from '../../../core/access/key-directory.service.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { BothLimitsDto, LimitsDto } from '../../../core/limits/limits.dto.js';
import { LimitsService, type BothLimits } from '../../../core/limits/limits.service.js';
import { toLimits } from '../../../core/limits/to-limits.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';

/** Example bodies. */
export const LIMITS_EXAMPLES = {
  'At most 100 USD a month, and 100,000 tokens a minute': {
    budgets: [{ period: 'month', credits: 100_000_000 }],
    tokens_per_minute: 100_000,
  },
  'Remove all limits': {},
};
export const IN_PLACE =
  'Replaces the limits set by the operator, on every instance within a second. Limits set by the tenant apply as well.';

/** Operator limits of API keys. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/api-keys')
export class KeyLimitsController {
  constructor(
    private readonly limits: LimitsService,
    private readonly directory: KeyDirectory,
  ) {}

  @Get(':id/limits')
  @ApiOperation({
    operationId: 'getKeyLimits',
    summary: 'Get the limits of an API key',
    description: 'Returns its own limits. Those of its ancestor keys apply as well.',
  })
  @ApiOkResponse({ type: BothLimitsDto })
  @ApiKeyId()
  async getOfKey(@Param('id') id: string): Promise<BothLimitsDto> {
    const key = await this.findKey(id);
    const [described] = await this.limits.describe(key.tenantId, 'api_key', [key]);
    return described!;
  }

  @Put(':id/limits')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'setKeyLimits',
    summary: 'Set the limits of an API key',
    description: IN_PLACE,
  })
  @ApiOkResponse({ type: BothLimitsDto })
  @ApiFields(LimitsDto, LIMITS_EXAMPLES, 'budgets.0.credits')
  @ApiKeyId()
  async setOfKey(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: LimitsDto,
  ): Promise<BothLimitsDto> {
    const key = await this.findKey(id);
    await this.limits.set(author, 'api_key', key, 'operator', toLimits(body));
    this.directory.forget(id);
    return this.getOfKey(id);
  }

  private async findKey(id: string): Promise<BothLimits & { tenantId: string }> {
    const key = isUuid(id) ? await this.limits.ofKey(id) : undefined;
    if (!key) throw new NotFoundError('id', 'There is no API key with this id.');
    return key;
  }
}

function ApiKeyId(): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'id', format: 'uuid' }),
    ApiErrorResponse(404, 'There is no API key with this id.'),
  );
}
