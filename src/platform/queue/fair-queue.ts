/**
 * What waits, by whom it waits for. Owners take turns: one with a thousand items stands in the way
 * of another one's single item for one turn. An owner's own items keep their order.
 */
export class FairQueue<Item> {
  /** In the order of the turns: who had one goes to the end. */
  private readonly owners = new Map<string, Set<Item>>();
  private count = 0;

  /** @param maxPerOwner more of one owner are not taken in */
  constructor(private readonly maxPerOwner: number) {}

  get size(): number {
    return this.count;
  }

  /** False when the owner has too many waiting. An item that waits already keeps its place. */
  add(owner: string, item: Item, most = this.maxPerOwner): boolean {
    const items = this.owners.get(owner) ?? new Set();
    if (items.has(item)) return true;
    if (items.size >= most) return false;
    this.owners.set(owner, items.add(item));
    this.count++;
    return true;
  }

  /** The next item, of an owner that may have a turn now. */
  take(mayHaveTurn: (owner: string) => boolean = () => true): Item | undefined {
    for (const [owner, items] of this.owners) {
      if (!mayHaveTurn(owner)) continue;
      const [item] = items;
      this.remove(owner, item!);
      if (this.owners.delete(owner)) this.owners.set(owner, items);
      return item;
    }
    return undefined;
  }

  /** False when it does not wait, or no longer. */
  remove(owner: string, item: Item): boolean {
    const items = this.owners.get(owner);
    if (!items?.delete(item)) return false;
    this.count--;
    if (items.size === 0) this.owners.delete(owner);
    return true;
  }

  /** What an owner waits for, first come first. */
  of(owner: string): readonly Item[] {
    return [...(this.owners.get(owner) ?? [])];
  }
}
