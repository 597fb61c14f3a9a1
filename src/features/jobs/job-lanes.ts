/** What a worker does with a job: ask a vendor for something, or how it stands. */
export type LaneKind = 'submit' | 'poll';

/**
 * Bounds how many jobs of one provider this process works on at once. Asking how work stands has
 * room of its own, so that long submissions do not keep results waiting.
 */
export class JobLanes {
  private readonly taken = new Map<string, number>();

  constructor(private readonly width: number) {}

  /** What gives the place back; undefined when there is none. */
  enter(provider: string, kind: LaneKind): (() => void) | undefined {
    const lane = `${kind} ${provider}`;
    const taken = this.taken.get(lane) ?? 0;
    if (taken >= this.width) return undefined;
    this.taken.set(lane, taken + 1);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.taken.set(lane, (this.taken.get(lane) ?? 1) - 1);
    };
  }
}
