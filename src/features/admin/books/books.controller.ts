import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Operator } from '../../../core/access/operator.decorator.js';
import { BooksService, type BooksReport } from '../../../core/ledger/books.service.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { BooksDto } from './books.dto.js';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/books')
export class BooksController {
  constructor(private readonly books: BooksService) {}

  @Get()
  @ApiOperation({
    operationId: 'checkBooks',
    summary: "Check the ledger's invariants now",
    description:
      'All in one snapshot, while the service works: each invariant with its figures, the query that was ' +
      'asked, and the first rows at fault. It takes two minutes at most; what was not looked at by then is ' +
      '`unchecked`, as are invariants over log rows of which some were deleted or archived for their age.',
  })
  @ApiOkResponse({ type: BooksDto })
  @ApiErrorResponse(409, 'Another instance checks the books at this moment.')
  async check(): Promise<BooksDto> {
    return toBooks(await this.books.check());
  }
}

function toBooks({ at, durationMs, findings }: BooksReport): BooksDto {
  const statuses = findings.map(({ status }) => status);
  return {
    status: (['broken', 'unchecked'] as const).find((each) => statuses.includes(each)) ?? 'sound',
    checked_at: at.toISOString(),
    duration_ms: durationMs,
    checks: findings.map(({ check, ...found }) => ({
      id: check.id,
      invariant: check.invariant,
      status: found.status,
      reason: found.reason,
      figures: { ...found.figures },
      query: check.statement.trim(),
      rows: [...found.rows],
      has_more_rows: found.hasMoreRows,
      duration_ms: found.durationMs,
    })),
  };
}
