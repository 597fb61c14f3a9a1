/**
 * Queues items by owner and serves owners round-robin: an owner with a thousand items delays another
 * owner's single item by one. Items of one owner stay in order.
 */
export class FairQueue<Item> {
  /** In service order: the owner served last is at the end. */
  private readonly owners = new Map<string, Set<Item>>();
  private count = 0;

  /** @param maxPerOwner how many items an owner may queue */
  constructor(private readonly maxPerOwner: number) {}

  get size(): number {
    return this.count;
  }

  /** Returns false when the owner has too many items. A queued item keeps its position. */
  add(owner: string, item: Item, most = this.maxPerOwner): boolean {
    const items = this.owners.get(owner) ?? new Set();
    if (items.has(item)) return true;
    if (items.size >= most) return false;
    this.owners.set(owner, items.add(item));
    this.count++;
    return true;
  }

  /** Returns the next item of an owner that may run now. */
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

  /** Returns false when the item is not queued. */
  remove(owner: string, item: Item): boolean {
    const items = this.owners.get(owner);
    if (!items?.delete(item)) return false;
    this.count--;
    if (items.size === 0) this.owners.delete(owner);
    return true;
  }

  /** All items, by owner. */
  get all(): readonly Item[] {
    return [...this.owners.values()].flatMap((items) => [...items]);
  }

  /** Returns an owner's items in order. */
  of(owner: string): readonly Item[] {
    return [...(this.owners.get(owner) ?? [])];
  }
}
