import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/caller.js';
import type { GatewayRequest } from '../access/gateway-request.js';
import { collectWork } from '../canonical/collect-work.js';
import type { EmbeddingRequest } from '../canonical/embedding-request.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { InvalidRequestError } from '../common/errors/gateway-errors.js';
import { readJsonBody } from '../common/http/read-json-body.js';
import { sendJson } from '../common/http/send-json.js';
import { callerGoneSignal } from '../delivery/caller-gone.js';
import { setRouteHeaders } from '../delivery/deliver-stream.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { RoutingService } from '../routing/routing.service.js';
import { TracingService } from '../tracing/tracing.service.js';
import { parseEmbeddings } from './embeddings.parse.js';
import { renderEmbeddings } from './embeddings.render.js';

/** Embeddings: parse, plan, hold, open, settle, render. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly tracing: TracingService,
    private readonly catalogue: CatalogueService,
  ) {}

  /** Answers one call. @throws GatewayError before anything was sent */
  async create(caller: Caller, received: GatewayRequest, response: Response): Promise<void> {
    const { requestId, receivedAt } = received;
    const request = parseEmbeddings(await readJsonBody(received));
    const callerGone = callerGoneSignal(response);
    const context = { requestId, endpoint: 'embeddings', receivedAt, callerGone };
    const plan = await this.routing.plan(caller, request, context);
    const origin = { tenantId: caller.tenantId, headers: received.headers, response };
    const followed = this.tracing.follow(plan, origin);
    this.assertDimensions(request);
    const hold = await this.ledger.hold(caller, plan);
    const opened = this.routing.openWork(plan, hold, (upstream, call) => upstream.embed?.(call));
    const work = await collectWork(this.ledger.settle(hold, followed.watch(opened)));

    setRouteHeaders(response, work);
    response.setHeader('X-Cache', 'MISS');
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
