/** Others are taken to call as well for so long after two owners took turns. */
const SHARED_FOR_MS = 250;

/** Tells when one owner calls alone from when others call as well, who are not to be kept waiting. */
export class ContentionWindow {
  private lastOwner = '';
  private sharedUntilMs = 0;

  /** @param nowMs in milliseconds, from any start */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** To be told of each call. */
  note(owner: string): void {
    if (owner === this.lastOwner) return;
    this.lastOwner = owner;
    this.sharedUntilMs = this.nowMs() + SHARED_FOR_MS;
  }

  get isShared(): boolean {
    return this.nowMs() <= this.sharedUntilMs;
  }
}
