/** How long contention is assumed after the owner changes. */
const SHARED_FOR_MS = 250;

/** Detects whether one owner calls alone or several compete, who must not wait for each other. */
export class ContentionWindow {
  private lastOwner = '';
  private sharedUntilMs = 0;

  /** @param nowMs a monotonic clock in milliseconds */
  constructor(readonly nowMs: () => number = () => performance.now()) {}

  /** Records a call. */
  note(owner: string): void {
    if (owner === this.lastOwner) return;
    this.lastOwner = owner;
    this.sharedUntilMs = this.nowMs() + SHARED_FOR_MS;
  }

  get isShared(): boolean {
    return this.nowMs() <= this.sharedUntilMs;
  }
}
