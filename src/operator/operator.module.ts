import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PriceCheckEntity } from './price-lists/price-check.entity.js';
import { CatalogueModule } from '../core/catalogue/catalogue.module.js';
import { RequestLogModule } from '../core/request-log/request-log.module.js';
import { RequestLogArchiveService } from './archive/request-log-archive.service.js';
import { PriceWatch } from './price-lists/price-watch.service.js';

/** Runs the operator's background work: archiving the request log and checking prices. */
@Module({
  imports: [TypeOrmModule.forFeature([PriceCheckEntity]), CatalogueModule, RequestLogModule],
  providers: [PriceWatch, RequestLogArchiveService],
})
export class OperatorModule {}
