import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CollectedAnswer } from '../../canonical/collect.js';
import { errorBody } from '../../platform/errors/error-response.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { StreamRenderer } from '../../core/answers/deliver.js';
import { chatUsage, type ChatRenderOptions } from './chat.render.js';
import { sseOf } from '../../platform/http/sse-writer.js';

/** Renders an answer as legacy completion chunks, which contain only text. */
export class CompletionStreamRenderer implements StreamRenderer {
  private model: string;

  constructor(private readonly options: ChatRenderOptions) {
    this.model = options.model ?? '';
  }

  render(event: CanonicalEvent): string | undefined {
    switch (event.type) {
      case 'route':
        this.model = event.route.model;
        return undefined;
      case 'text':
      case 'refusal':
        return this.chunk({ choices: [choiceOf(event.choice, event.text, null)] });
      case 'finish':
        return this.chunk({ choices: [choiceOf(event.choice, '', event.reason)] });
      case 'settled':
        return this.options.includeUsage
          ? this.chunk({ choices: [], usage: chatUsage(event.usage) })
          : undefined;
      default:
        return undefined;
    }
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  error(error: GatewayError): string {
    return sseOf({
      ...errorBody(error),
      ...headOf(this.options, this.model),
      choices: [choiceOf(0, '', 'error')],
    });
  }

  private chunk(members: object): string {
    return sseOf({ ...headOf(this.options, this.model), ...members });
  }
}

/** Renders a whole answer as a legacy completion. */
export function renderCompletion(answer: CollectedAnswer, options: ChatRenderOptions): object {
  return {
    ...headOf(options, answer.route.model),
    choices: answer.choices.map(({ text, refusal, finishReason }, index) =>
      choiceOf(index, text + refusal, finishReason ?? null),
    ),
    usage: chatUsage(answer.settled.usage),
  };
}

function headOf({ requestId, created }: ChatRenderOptions, model: string): object {
  return { id: `cmpl-${requestId.replaceAll('-', '')}`, object: 'text_completion', created, model };
}

function choiceOf(index: number, text: string, finishReason: string | null): object {
  return { text, index, logprobs: null, finish_reason: finishReason };
}
