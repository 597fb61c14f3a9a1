import { InstanceChannel, type TextListener } from '../../src/platform/channel/instance-channel.js';

/** Delivers texts to all instances in the same order, each a millisecond after it was published. */
export class Bus {
  readonly texts: string[] = [];
  readonly members: BusChannel[] = [];

  say(text: string): void {
    this.texts.push(text);
    setTimeout(() => {
      for (const member of this.members) if (!member.isCut) member.onText(text);
    }, 1);
  }

  /** Counts texts with an item of this type. */
  count(type: string): number {
    return this.texts.filter((text) => text.includes(`"type":"${type}"`)).length;
  }
}

export class BusChannel extends InstanceChannel {
  readonly maxBytes = 7_900;
  isCut = false;
  onText: TextListener = () => undefined;
  private onBack = (): void => undefined;

  constructor(private readonly bus: Bus) {
    super();
  }

  listen(_topic: string, onText: TextListener, onBack: () => void): void {
    this.onText = onText;
    this.onBack = onBack;
    this.bus.members.push(this);
    onBack();
  }

  publish(_topic: string, text: string): Promise<boolean> {
    if (!this.isCut) this.bus.say(text);
    return Promise.resolve(!this.isCut);
  }

  mend(): void {
    this.isCut = false;
    this.onBack();
  }
}
