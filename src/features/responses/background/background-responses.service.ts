import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { AnswersService } from '../../../core/answers/answers.service.js';
import type { Call } from '../../../core/answers/call.js';
import { hasRoomForJob } from '../../../core/answers/open-jobs.js';
import type { Hold } from '../../../core/ledger/hold.js';
import { LedgerService } from '../../../core/ledger/ledger.service.js';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { Database } from '../../../platform/database/database.js';
import { InvalidRequestError, RateLimitError } from '../../../platform/errors/gateway-errors.js';
import type { RequestRoom } from '../../../platform/http/request-room.js';
import { parseJsonBody, type JsonBody, type JsonObject } from '../../../platform/http/json-body.js';
import { WorkQueue } from '../../../platform/queue/work-queue.js';
import type { ResponsesBody } from '../create-response.schema.js';
import type { ResolvedItems } from '../item-references.service.js';
import { ResponseAnswer, type AnswerSubject } from '../response-answer.js';
import { BackgroundResponsesRepository } from './background-responses.repository.js';

/** Answers take at least a few seconds. */
const FULL_RETRY_SECONDS = 10;
/** How long a cancel request waits for the settlement. */
const CANCEL_PATIENCE_MS = 8_000;
const LOOK_EVERY_MS = 50;
const FIRST_DOUBT_MS = 500;
const LONGEST_DOUBT_MS = 30_000;

/** Headers that affect the request; stored with it. */
const KEPT_HEADER = /^(?:x-gateway-|traceparent$|tracestate$)/;

interface Accepted {
  body: JsonBody<ResponsesBody>;
  context: ResolvedItems;
  subject: AnswerSubject;
}

/** Creates, shows and cancels background responses. */
@Injectable()
export class BackgroundResponses {
  /**
   * Notifies the worker of this process about a cancellation. Other processes see the flag in the
   * row.
   */
  onCancel: (id: string) => void = () => undefined;
  private readonly logger = new Logger(BackgroundResponses.name);

  constructor(
    private readonly database: Database,
    private readonly answers: AnswersService,
    private readonly ledger: LedgerService,
    private readonly repository: BackgroundResponsesRepository,
    private readonly queue: WorkQueue,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /**
   * Reserves credits and writes a row that any process can continue.
   * @returns the queued response object
   * @throws GatewayError when the request is rejected; nothing stays reserved
   */
  async create(call: Call, accepted: Accepted): Promise<JsonObject> {
    assertPossible(accepted.body.value);
    const { plan, hold } = await this.answers.accept(call, 'responses', accepted.subject.request);
    const { answerId: id } = accepted.subject.request;
    const response = new ResponseAnswer(accepted.subject).skeleton('queued');
    try {
      await this.database.transaction(async (client) => {
        const { maxOpenPerTenant } = this.config.jobs;
        if (!(await hasRoomForJob(client, call.caller.tenantId, maxOpenPerTenant))) {
          throw new RateLimitError(
            'max_open_jobs',
            `An account can have at most ${maxOpenPerTenant} open jobs and background responses. Wait for some to finish, or cancel some.`,
            FULL_RETRY_SECONDS,
          );
        }
        await this.repository.insert(client, {
          id,
          requestId: call.requestId,
          response,
          body: accepted.body.bytes.toString('utf8'),
          context: accepted.context,
          caller: call.caller,
          headers: keptHeaders(call),
          isFlagged: plan.isFlagged,
          credits: hold.credits,
          createdAt: call.receivedAt,
        });
        await this.ledger.transferHold(hold, client);
      });
      this.ledger.holdTransferred(hold);
    } catch (error) {
      // Our own rejection guarantees that nothing was written.
      if (error instanceof RateLimitError) await this.ledger.release(hold);
      else void this.giveBack(hold, id);
      throw error;
    }
    this.wake(id);
    return JSON.parse(response) as JsonObject;
  }

  /** Returns the response object of an open response; undefined when there is none. */
  async find({ tenantId }: Caller, id: string): Promise<JsonObject | undefined> {
    const view = await this.repository.find(tenantId, id);
    return view && { ...view.response, status: view.status };
  }

  /** Returns the JSON of its input. */
  async findInput(
    { tenantId }: Caller,
    id: string,
    room: RequestRoom,
  ): Promise<string | undefined> {
    const view = await this.repository.find(tenantId, id);
    if (!view) return undefined;
    room.take(view.bytes);
    const body = await room.inTurn(view.bytes, () => this.repository.findBody(tenantId, id));
    if (body === undefined) return undefined;
    const { input } = parseJsonBody(Buffer.from(body), { maxParts: Infinity }).value;
    return JSON.stringify(input);
  }

  /**
   * Requests cancellation and waits briefly for it to take effect.
   * @returns whether the response existed
   */
  async cancel({ tenantId }: Caller, id: string): Promise<boolean> {
    if (!(await this.repository.requestCancel(tenantId, id))) return false;
    this.onCancel(id);
    this.wake(id);
    const deadlineMs = performance.now() + CANCEL_PATIENCE_MS;
    while (performance.now() < deadlineMs && (await this.repository.has(id))) {
      await pause(LOOK_EVERY_MS);
    }
    return true;
  }

  private wake(id: string): void {
    this.queue.wake('responses', id).catch((error: Error) => {
      this.logger.warn(`wake-up left to the sweep: ${error.message}`);
    });
  }

  /**
   * Releases the hold of a row that was not written. The commit may have succeeded despite an
   * error, so it asks until the database answers.
   */
  private async giveBack(hold: Hold, id: string): Promise<void> {
    for (let pauseMs = FIRST_DOUBT_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_DOUBT_MS)) {
      await pause(pauseMs, undefined, { ref: false });
      try {
        if (await this.repository.has(id)) this.ledger.holdTransferred(hold);
        else await this.ledger.release(hold);
        return;
      } catch (error) {
        this.logger.warn(`hold state unknown: ${String(error)}`);
      }
    }
  }
}

/** @throws InvalidRequestError for options that conflict with `background` */
function assertPossible({ store, stream }: ResponsesBody): void {
  if (store === false) {
    throw new InvalidRequestError('store', 'Background responses must be stored. Remove `store`.');
  }
  if (stream === true) {
    throw new InvalidRequestError(
      'stream',
      'Background responses are not streamed. Remove `stream` and poll the response until it has ended.',
    );
  }
}

function keptHeaders({ headers }: Call): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (KEPT_HEADER.test(name) && typeof value === 'string') kept[name] = value;
  }
  return kept;
}
