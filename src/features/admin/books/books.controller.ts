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
      'All in one snapshot, while the service works: each invariant with its figures, the query that was ' +
      'asked, and the first rows at fault. It takes two minutes at most; what was not looked at by then is ' +
      '`unchecked`, as are invariants over log rows of which some were deleted or archived for their age.',
  })
  @ApiOkResponse({ type: BooksDto })
  @ApiErrorResponse(409, 'Another instance checks the books at this moment.')
  async check(): Promise<BooksDto> {
    return toBooks(await this.books.check());
  }

  @Get('progress.jsonl')
  @ApiOperation({
    operationId: 'watchBooks',
    summary: "Check the ledger's invariants now, and show each as it is done",
    description:
      'The same as lines of JSON. The first is `{"object": "books.begin", "checked_at": …, "invariants": [{"id": …, ' +
      '"invariant": …}]}`; then there is one of each check, `{"object": "books.check", …}` with its fields; the last is ' +
      '`{"object": "books.end", "status": …, "duration_ms": …}`, and without it the check was not done. Who leaves ' +
      'cancels the check, unless others wait for it.',
  })
  @ApiOkResponse({
    description: 'The findings, a line each.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  @ApiErrorResponse(409, 'Another instance checks the books at this moment.')
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
