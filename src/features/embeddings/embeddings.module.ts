import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';
import { QuotesService } from '../../core/answers/quotes.service.js';
import { parseEmbeddings } from './embeddings.parse.js';

@Module({
  imports: [AnswersModule, CatalogueModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService],
})
export class EmbeddingsModule {
  constructor(quotes: QuotesService) {
    quotes.add('embeddings', parseEmbeddings);
  }
}
