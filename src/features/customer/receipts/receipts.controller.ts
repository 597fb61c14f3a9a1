import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { Customer } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Members } from '../../../core/people/roles.js';
import { SigningKeys } from '../../../core/ledger/receipts/signing-keys.service.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { KeySetDto, SignedReceiptDto } from './receipts.dto.js';
import { ReceiptsService } from './receipts.service.js';

@ApiTags('Customer')
@Customer()
@Members('money')
@Controller('v1/customer/receipts')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get(':request_id')
  @ApiOperation({
    operationId: 'getReceipt',
    summary: 'What a request cost and why, signed',
    description:
      'Each line of the arithmetic at the prices that held when the request was settled, as soon as its ' +
      'answer has ended. The signature can be checked without the gateway.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid', description: "The answer's `x-request-id`." })
  @ApiOkResponse({ type: SignedReceiptDto })
  @ApiErrorResponse(404, 'The tenant has made no request with this id, or its log row is deleted.')
  @ApiErrorResponse(503, 'The request is archived, and the archive cannot be reached.')
  get(
    @CurrentCaller() caller: Caller,
    @Param('request_id') requestId: string,
  ): Promise<SignedReceiptDto> {
    return this.receipts.get(caller, requestId);
  }
}

/** For whoever checks a receipt, without a key of the gateway. */
@ApiTags('Operations')
@Controller('.well-known')
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  @Get('jwks.json')
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({
    operationId: 'listSigningKeys',
    summary: 'Public keys that receipts are signed with',
    description: 'A JSON Web Key Set (RFC 7517). Keys of before stay listed.',
  })
  @ApiOkResponse({ type: KeySetDto })
  @ApiErrorResponse(503, "The service's database is away; see `Retry-After`.")
  async list(): Promise<KeySetDto> {
    return { keys: await this.keys.publicKeys() };
  }
}
