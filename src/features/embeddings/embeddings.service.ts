import { Injectable } from '@nestjs/common';
import { collectWork } from '../../canonical/collect.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/work-request.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asWhole, type Reply } from '../../core/answers/deliver.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { parseEmbeddings } from './embeddings.parse.js';
import { renderEmbeddings } from './embeddings.render.js';

/** Creates embeddings, or returns them from the cache. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly answers: AnswersService,
    private readonly catalogue: CatalogueService,
  ) {}

  /** @throws GatewayError when the request is rejected */
  async create(call: Call): Promise<Reply<WorkEvent<EmbeddingVectors>>> {
    const request = parseEmbeddings(await readJsonBody(call.body));
    this.assertDimensions(request);
    const answer = await this.answers.perform(call, {
      endpoint: 'embeddings',
      request,
      isCacheable: true,
      // Guardrails cannot read tokens: their vocabulary depends on the vendor.
      input: {
        texts: request.input.type === 'texts' ? request.input.texts : [],
        param: 'input',
      },
      start: (upstream, work) => upstream.embed?.(work),
    });
    return {
      answer,
      send: asWhole(collectWork, (work) => renderEmbeddings(work, request.encoding)),
    };
  }

  /** Rejects dimensions for models without the option: vendors differ in how they handle them. */
  private assertDimensions({ dimensions, models: [alias] }: EmbeddingRequest): void {
    if (dimensions === undefined) return;
    const model = this.catalogue.find(alias);
    // Routing rejects unknown models.
    if (model?.kind !== 'embedding' || model.supported_parameters.includes('dimensions')) return;
    throw new InvalidRequestError(
      'dimensions',
      `${JSON.stringify(alias)} does not support \`dimensions\`; omit it.`,
    );
  }
}
