/** Told of each text on a topic, in the order in which all instances are told. */
export type TextListener = (text: string) => void;

/**
 * What instances tell each other at once. Best effort: a text may be lost while the channel is away, and
 * whoever listens is told when it is there again. Nothing may depend on it that has to be right.
 */
export abstract class InstanceChannel {
  /** Of one text. */
  abstract readonly maxBytes: number;

  /**
   * From now on the listener is told of what any instance publishes on the topic, this one included.
   *
   * @param topic a plain name: lower-case letters and `_`
   * @param onBack called once texts are heard, and whenever some may have been missed before
   */
  abstract listen(topic: string, onText: TextListener, onBack: () => void): void;

  /** Never rejects. @returns false when nobody has been told */
  abstract publish(topic: string, text: string): Promise<boolean>;
}
