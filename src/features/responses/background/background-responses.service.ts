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

/** Answers take some seconds at least. */
const FULL_RETRY_SECONDS = 10;
/** So long a caller who cancels waits for the end to be settled. */
const CANCEL_PATIENCE_MS = 8_000;
const LOOK_EVERY_MS = 50;
const FIRST_DOUBT_MS = 500;
const LONGEST_DOUBT_MS = 30_000;

/** Headers that say what is to be done with the request; they go with it. */
const KEPT_HEADER = /^(?:x-gateway-|traceparent$|tracestate$)/;

interface Accepted {
  body: JsonBody<ResponsesBody>;
  context: ResolvedItems;
  subject: AnswerSubject;
}

/** Responses in the background: taken in, shown while they are made, and cancelled. */
@Injectable()
export class BackgroundResponses {
  /** Told of what is to be cancelled; a worker of this process is one. Others see it in the row. */
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
   * Takes a response in: its credits are set aside, and a row goes on without this process.
   *
   * @returns the response object as it stands
   * @throws GatewayError when it is not taken in; nothing is held then
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
            `At most ${maxOpenPerTenant} jobs and responses in the background may be open at once. Wait until some have ended, or cancel some.`,
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
      // Of a refusal of our own it is sure that nothing was written.
      if (error instanceof RateLimitError) await this.ledger.release(hold);
      else void this.giveBack(hold, id);
      throw error;
    }
    this.wake(id);
    return JSON.parse(response) as JsonObject;
  }

  /** The response object of one that has not ended; undefined where there is none. */
  async find({ tenantId }: Caller, id: string): Promise<JsonObject | undefined> {
    const view = await this.repository.find(tenantId, id);
    return view && { ...view.response, status: view.status };
  }

  /** JSON of its input. */
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

  /** Has it end soon, and waits for that a while. @returns whether there was such a one */
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
      this.logger.warn(`A wake-up is left to the sweep: ${error.message}`);
    });
  }

  /**
   * Gives a hold back whose row was not written; a commit may have been, in spite of an error. Asks until
   * the database answers.
   */
  private async giveBack(hold: Hold, id: string): Promise<void> {
    for (let pauseMs = FIRST_DOUBT_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_DOUBT_MS)) {
      await pause(pauseMs, undefined, { ref: false });
      try {
        if (await this.repository.has(id)) this.ledger.holdTransferred(hold);
        else await this.ledger.release(hold);
        return;
      } catch (error) {
        this.logger.warn(`A hold is in doubt: ${String(error)}`);
      }
    }
  }
}

/** @throws InvalidRequestError for what does not go together with `background` */
function assertPossible({ store, stream }: ResponsesBody): void {
  if (store === false) {
    throw new InvalidRequestError(
      'store',
      'A response in the background is asked for later, so it has to be stored: leave `store` out.',
    );
  }
  if (stream === true) {
    throw new InvalidRequestError(
      'stream',
      'A response in the background is not streamed: leave `stream` out, and ask for the response until it has ended.',
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
