import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

@Module({
  imports: [AnswersModule, CatalogueModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService],
})
export class EmbeddingsModule {}
