import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Operator } from '../../../core/access/operator.decorator.js';
import { BOOK_CHECKS } from '../../../core/ledger/books.js';
import type { BookFinding, BooksReport } from '../../../core/ledger/books-run.js';
import { BooksService } from '../../../core/ledger/books.service.js';
import type { Response } from 'express';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { JSONL_CONTENT_TYPE, sendTextStream } from '../../../platform/http/send-body.js';
import { BooksDto, type BookCheckDto } from './books.dto.js';

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
      'Checks all invariants in one snapshot while the service runs. Returns the figures, the query ' +
      'and the first violating rows of each. Stops after two minutes: unfinished checks are ' +
      '`unchecked`, as are invariants over log rows that were deleted or archived.',
  })
  @ApiOkResponse({ type: BooksDto })
  @ApiErrorResponse(409, 'Another instance is checking the books.')
  async check(): Promise<BooksDto> {
    return toBooks(await this.books.check());
  }

  @Get('progress.jsonl')
  @ApiOperation({
    operationId: 'watchBooks',
    summary: "Check the ledger's invariants and stream the results",
    description:
      'Returns lines of JSON. The first is `{"object": "books.begin", "checked_at": …, "invariants": [{"id": …, ' +
      '"invariant": …}]}`, followed by `{"object": "books.check", …}` for each check. The last is ' +
      '`{"object": "books.end", "status": …, "duration_ms": …}`; without it the check is incomplete. Disconnecting ' +
      'cancels the check unless other callers wait for it.',
  })
  @ApiOkResponse({
    description: 'The results, one line each.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  @ApiErrorResponse(409, 'Another instance is checking the books.')
  async watch(@Res() response: Response): Promise<void> {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const headers = { 'Content-Type': JSONL_CONTENT_TYPE, 'Cache-Control': 'no-store' };
    await sendTextStream(response, headers, this.lines(left.signal));
  }

  private async *lines(signal: AbortSignal): AsyncGenerator<string> {
    for await (const news of this.books.watch(signal)) yield `${JSON.stringify(toLine(news))}\n`;
  }
}

function toBooks(report: BooksReport): BooksDto {
  return {
    status: statusOf(report),
    checked_at: report.at.toISOString(),
    duration_ms: report.durationMs,
    checks: report.findings.map(toCheck),
  };
}

function statusOf({ findings }: BooksReport): BooksDto['status'] {
  const statuses = findings.map(({ status }) => status);
  return (['broken', 'unchecked'] as const).find((each) => statuses.includes(each)) ?? 'sound';
}

function toCheck({ check, ...found }: BookFinding): BookCheckDto {
  return {
    id: check.id,
    invariant: check.invariant,
    status: found.status,
    reason: found.reason,
    figures: { ...found.figures },
    query: check.statement.trim(),
    rows: [...found.rows],
    has_more_rows: found.hasMoreRows,
    duration_ms: found.durationMs,
  };
}

function toLine(news: Date | BookFinding | BooksReport): object {
  if (news instanceof Date) {
    const invariants = BOOK_CHECKS.map(({ id, invariant }) => ({ id, invariant }));
    return { object: 'books.begin', checked_at: news.toISOString(), invariants };
  }
  if ('check' in news) return { object: 'books.check', ...toCheck(news) };
  return { object: 'books.end', status: statusOf(news), duration_ms: news.durationMs };
}
