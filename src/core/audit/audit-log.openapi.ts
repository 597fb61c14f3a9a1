import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { ApiFilters } from '../access/customer.decorator.js';
import { Report } from '../access/management-limit.guard.js';

/**
 * Guards and describes a handler that exports the audit log.
 *
 * @param whose whose changes, such as `the tenant's`
 */
export function ApiAuditExport(
  format: 'csv' | 'jsonl',
  operationId: string,
  whose: string,
): MethodDecorator {
  const type = format === 'csv' ? 'text/csv' : 'text/plain';
  const shape =
    format === 'csv'
      ? 'as CSV (RFC 4180) with one header line, `before` and `after` as JSON. Text that a spreadsheet could interpret as a formula is prefixed with an apostrophe.'
      : 'as one JSON object per line, each like an entry of the list.';
  return applyDecorators(
    Report(),
    ApiOperation({
      operationId,
      summary: `Export ${whose} changes as ${format === 'csv' ? 'CSV' : 'JSON lines'}`,
      description: `Newest first, ${shape}`,
    }),
    ApiOkResponse({
      description: 'The log.',
      content: { [type]: { schema: { type: 'string' } } },
    }),
    ApiFilters(),
  );
}
