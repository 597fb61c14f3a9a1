/** Receives each text of a topic, in the same order on all instances. */
export type TextListener = (text: string) => void;

/**
 * Broadcasts texts between instances. Best effort: texts may be lost while the channel is unavailable, and
 * listeners are notified when it returns. Nothing that must be correct may depend on it.
 */
export abstract class InstanceChannel {
  /** The maximum length of one text, in bytes. */
  abstract readonly maxBytes: number;

  /**
   * Subscribes to a topic, including this instance's own texts.
   *
   * @param topic lower-case letters and `_`
   * @param onBack called once the subscription works, and whenever texts may have been missed
   */
  abstract listen(topic: string, onText: TextListener, onBack: () => void): void;

  /** Never rejects. @returns false when the text was not published */
  abstract publish(topic: string, text: string): Promise<boolean>;
}
