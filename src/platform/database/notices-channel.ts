import { Logger } from '@nestjs/common';
import { InstanceChannel, type TextListener } from '../channel/instance-channel.js';
import { messageOf } from '../errors/thrown.js';
import { notify, type DatabaseNotices } from './database-notices.js';
import type { Database } from './database.js';

/** Connects instances that share only a database, by its notices, on the session that already receives them. */
export class NoticesChannel extends InstanceChannel {
  private readonly logger = new Logger(NoticesChannel.name);
  /** PostgreSQL's limit is 8,000. */
  readonly maxBytes = 7_900;

  constructor(
    private readonly database: Database,
    private readonly notices: DatabaseNotices,
  ) {
    super();
  }

  listen(topic: string, onText: TextListener, onBack: () => void): void {
    let session = 0;
    this.notices.listen(topic, (text) => {
      if (text !== undefined) onText(text);
      // Undefined also arrives every few seconds, which is too often to ask all instances.
      if (session === this.notices.session) return;
      session = this.notices.session;
      onBack();
    });
  }

  async publish(topic: string, text: string): Promise<boolean> {
    try {
      await notify(this.database.lookUps, topic, text);
      return true;
    } catch (error) {
      // `DatabasePulse` logs the outage.
      this.logger.debug(`notice not sent: ${messageOf(error)}`);
      return false;
    }
  }
}
