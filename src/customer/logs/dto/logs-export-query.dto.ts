import { PickType } from '@nestjs/swagger';
import { LogsQueryDto } from './logs-query.dto.js';

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends PickType(LogsQueryDto, ['start_date', 'end_date']) {}
