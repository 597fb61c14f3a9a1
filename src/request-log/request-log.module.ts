import { Module } from '@nestjs/common';
import { RequestLogReader } from './request-log.reader.js';

/** One row per request: written with its settlement by the ledger, read here. */
@Module({ providers: [RequestLogReader], exports: [RequestLogReader] })
export class RequestLogModule {}
