import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { callerOf } from '../../core/access/current-caller.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { readCacheTtl } from '../../core/routing/cache/read-cache-ttl.js';
import { collectWork } from '../../canonical/collect-work.js';
import type { EmbeddingRequest } from '../../canonical/embedding-request.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { sendJson } from '../../platform/http/send-json.js';
import { callerGoneSignal } from '../../core/answers/caller-gone.js';
import { setCacheHeaders, setRouteHeaders } from '../../core/answers/deliver-stream.js';
import { GuardrailsService } from '../../core/guardrails/guardrails.service.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { parseEmbeddings } from './embeddings.parse.js';
import { renderEmbeddings } from './embeddings.render.js';

/** Embeddings: parse, plan, admit, hold, open, settle, render. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly tracing: TracingService,
    private readonly catalogue: CatalogueService,
    private readonly guardrails: GuardrailsService,
  ) {}

  /** Answers one call. @throws GatewayError before anything was sent */
  async create(received: GatewayRequest, response: Response): Promise<void> {
    const caller = callerOf(received);
    const { requestId, receivedAt } = received;
    const request = parseEmbeddings(await readJsonBody(received));
    const callerGone = callerGoneSignal(response);
    const cacheTtlSeconds = readCacheTtl(received.headers);
    const context = { requestId, endpoint: 'embeddings', receivedAt, callerGone, cacheTtlSeconds };
    const plan = await this.routing.plan(caller, request, context);
    const origin = { tenantId: caller.tenantId, headers: received.headers, response };
    this.tracing.follow(plan, origin);
    this.assertDimensions(request);
    const guard = await this.guardrails.guard(caller, this.ledger, response);
    // Tokens cannot be read here: their vocabulary is the vendor's.
    const texts = request.input.type === 'texts' ? request.input.texts : [];
    await guard.admitTexts(plan, texts, 'input');
    const hold = await this.ledger.hold(caller, plan);
    const opened = this.routing.openWork(plan, hold, (upstream, call) => upstream.embed?.(call));
    const kept = this.routing.keep(plan, opened);
    const work = await collectWork(this.ledger.settle(hold, kept));

    setRouteHeaders(response, work);
    setCacheHeaders(response, plan.cache?.hit?.route);
    response.setHeader('X-Gateway-Cost', work.settled.cost);
    sendJson(response, 200, await renderEmbeddings(work, request.encoding));
  }

  /** Vendors differ in what they do with dimensions that a model has not: the gateway refuses them. */
  private assertDimensions({ dimensions, models: [alias] }: EmbeddingRequest): void {
    if (dimensions === undefined) return;
    const model = this.catalogue.find(alias);
    if (model === undefined || model.supported_parameters.includes('dimensions')) return;
    throw new InvalidRequestError(
      'dimensions',
      `The vectors of ${JSON.stringify(alias)} have one size only; leave \`dimensions\` out.`,
    );
  }
}
