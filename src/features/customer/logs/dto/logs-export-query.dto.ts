import { DateRangeQueryDto } from '../../../../platform/http/date-range.js';

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends DateRangeQueryDto {}
