// Heights of a long list: guessed, then measured; sums by a Fenwick tree.

export class Heights {
  private readonly tree: Float64Array;
  private readonly values: Float64Array;
  length: number;

  constructor(guesses: ArrayLike<number>, room = 0) {
    this.length = guesses.length;
    const size = guesses.length + Math.max(room, 1024);
    this.values = new Float64Array(size);
    this.tree = new Float64Array(size + 1);
    this.values.set(guesses);
    // Each sum is handed to the one above it once: a hundred thousand heights take a millisecond.
    for (let at = 1; at <= size; at++) {
      this.tree[at] += this.values[at - 1];
      const above = at + (at & -at);
      if (above <= size) this.tree[above] += this.tree[at];
    }
  }

  private add(place: number, by: number): void {
    this.values[place] += by;
    for (let at = place + 1; at < this.tree.length; at += at & -at) this.tree[at] += by;
  }

  /** Whether another value fits at the end. */
  get isFull(): boolean {
    return this.length >= this.values.length;
  }

  push(height: number): void {
    this.add(this.length++, height);
  }

  get(place: number): number {
    return this.values[place];
  }

  /** Sets a height; returns by how much it differs from the one before. */
  set(place: number, height: number): number {
    const by = height - this.values[place];
    if (by !== 0) this.add(place, by);
    return by;
  }

  /** The sum of the first heights. */
  top(place: number): number {
    let sum = 0;
    for (let at = place; at > 0; at -= at & -at) sum += this.tree[at];
    return sum;
  }

  get total(): number {
    return this.top(this.length);
  }

  /** The place of the item at a distance from the top. */
  at(distance: number): number {
    let place = 0;
    let rest = distance;
    let step = 1 << Math.floor(Math.log2(this.tree.length));
    for (; step > 0; step >>= 1) {
      const next = place + step;
      if (next < this.tree.length && this.tree[next] <= rest) {
        place = next;
        rest -= this.tree[next];
      }
    }
    return Math.min(place, Math.max(0, this.length - 1));
  }
}
