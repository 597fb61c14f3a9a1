import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../../core/access/authenticated.decorator.js';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { CurrentKeyService } from './current-key.service.js';
import { CurrentKeyDto } from './current-key.dto.js';
import { Members } from '../../../core/access/roles.js';

@ApiTags('Credits')
@Authenticated('any')
@Members('keyOnly')
@Controller('api/v1/key')
export class CurrentKeyController {
  constructor(private readonly currentKey: CurrentKeyService) {}

  @Get()
  @ApiOperation({
    operationId: 'getCurrentKey',
    summary: 'Get the calling key with its spend and limits',
  })
  @ApiOkResponse({ type: CurrentKeyDto })
  async get(@CurrentCaller() caller: Caller): Promise<CurrentKeyDto> {
    return { data: await this.currentKey.get(caller, new Date()) };
  }
}
