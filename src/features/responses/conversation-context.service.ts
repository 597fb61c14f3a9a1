import { Injectable } from '@nestjs/common';
import type { Call } from '../../core/answers/call.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { RequestRoom } from '../../platform/http/request-room.js';
import { CompactionsService } from './compactions.service.js';
import { ConversationsService } from './conversations.service.js';
import {
  readConversationId,
  StoredConversationsService,
} from './conversations/stored-conversations.service.js';
import type { ResponsesBody } from './create-response.schema.js';
import { ItemReferencesService, type ResolvedItems } from './item-references.service.js';
import type { Conversation } from './stored-responses.repository.js';

/** Body fields that can refer to stored content. */
type Referring = Pick<ResponsesBody, 'input' | 'previous_response_id' | 'conversation'>;

/** Loads everything a request refers to: earlier turns, items and compactions. */
@Injectable()
export class ConversationContextService {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly storedConversations: StoredConversationsService,
    private readonly itemReferences: ItemReferencesService,
    private readonly compactions: CompactionsService,
  ) {}

  /** @throws GatewayError naming the field with a missing or unreadable reference */
  async load({ caller, body }: Call, value: Referring): Promise<ResolvedItems> {
    const { tenantId } = caller;
    const room = new RequestRoom(body);
    const earlier = await this.loadEarlier(tenantId, value, room);
    const { conversation, ownItems } = await this.itemReferences.resolve(
      tenantId,
      value.input,
      earlier,
      room,
    );
    const open = (items: ResolvedItems['ownItems'], pathOf: (index: number) => string) =>
      this.compactions.open(tenantId, items, pathOf);
    return {
      conversation: conversation && {
        ...conversation,
        items: [...open(conversation.items, () => paramOf(conversation))],
      },
      ownItems: open(ownItems, (index) => `input.${index}`),
    };
  }

  private async loadEarlier(
    tenantId: string,
    value: Referring,
    room: RequestRoom,
  ): Promise<Conversation | undefined> {
    const { previous_response_id: previousId, conversation } = value;
    const id = readConversationId(conversation);
    if (id === undefined) {
      return previousId == null ? undefined : this.conversations.load(tenantId, previousId, room);
    }
    if (previousId != null) {
      throw new InvalidRequestError(
        'conversation',
        'Send either `conversation` or `previous_response_id`, not both.',
      );
    }
    return this.storedConversations.load(tenantId, id, room);
  }
}

/** Returns the field that named the conversation. */
function paramOf({ storedIn }: Conversation): string {
  return storedIn === undefined ? 'previous_response_id' : 'conversation';
}
