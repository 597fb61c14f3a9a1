import { rm } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../core/access/caller.js';
import { callerOf } from '../../core/access/current-caller.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { setRateLimitHeaders } from '../../core/access/rate-limit-headers.js';
import { collectWork, type CollectedWork } from '../../canonical/collect-work.js';
import type { Transcript } from '../../canonical/transcription-request.js';
import { callerGoneSignal } from '../../core/answers/caller-gone.js';
import { setRouteHeaders } from '../../core/answers/deliver-stream.js';
import { GuardrailsService } from '../../core/guardrails/guardrails.service.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { transcriptTexts } from '../../vendors/dialects/audio/transcript-texts.js';
import { identifyAudio } from './identify-audio.js';
import { receiveForm } from './receive-form.js';
import { assertTranscription, makeTranscription } from './transcription.parse.js';
import { UploadFolder } from './upload-folder.js';

/**
 * Speech to text. The upload lies in a file until its request is over, so that its length is known
 * before a vendor is called, and a second vendor can be sent it.
 */
@Injectable()
export class TranscriptionsService {
  constructor(
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly tracing: TracingService,
    private readonly uploads: UploadFolder,
    private readonly guardrails: GuardrailsService,
  ) {}

  /** Answers one call. The file is gone before the answer leaves. @throws GatewayError */
  async create(received: GatewayRequest, response: Response): Promise<void> {
    const caller = callerOf(received);
    if (received.rateLimit) setRateLimitHeaders(response, received.rateLimit);
    const work = await this.transcribe(caller, received, response);
    if (response.destroyed) return;
    const [{ contentType, bytes }] = work.outputs;
    response.setHeader('X-Cache', 'MISS');
    setRouteHeaders(response, work);
    response.setHeader('X-Gateway-Cost', work.settled.cost);
    response.writeHead(200, { 'content-type': contentType, 'content-length': bytes.length });
    response.end(bytes);
  }

  private async transcribe(
    caller: Caller,
    received: GatewayRequest,
    response: Response,
  ): Promise<CollectedWork<Transcript>> {
    const { requestId, receivedAt } = received;
    const callerGone = callerGoneSignal(response);
    const path = await this.uploads.newPath();
    try {
      const { fields, file } = await receiveForm(received, path);
      assertTranscription(fields);
      const request = makeTranscription(fields, await identifyAudio(file));
      const context = { requestId, endpoint: 'audio.transcriptions', receivedAt, callerGone };
      const plan = await this.routing.plan(caller, request, context);
      const origin = { tenantId: caller.tenantId, headers: received.headers, response };
      this.tracing.follow(plan, origin);
      const guard = await this.guardrails.guard(caller, this.ledger, response);
      await guard.admitTexts(plan, request.prompt === undefined ? [] : [request.prompt], 'prompt');
      const hold = await this.ledger.hold(caller, plan);
      const opened = this.routing.openWork(plan, hold, (upstream, call) =>
        upstream.transcribe?.(call),
      );
      const textsOf = (transcript: Transcript) => transcriptTexts(transcript, request.format);
      const watched = guard.watchTexts(plan, opened, textsOf, 'file');
      return await collectWork(this.ledger.settle(hold, watched));
    } finally {
      await rm(path, { force: true });
    }
  }
}
