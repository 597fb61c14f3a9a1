/** A function that works its value out on the first call and remembers it. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * The same of a value that may be let go of meanwhile: what is made of it goes with it, and is made
 * anew of one that takes its place.
 */
export function onceFor<Source extends object, Value extends object>(
  sourceOf: () => Source,
  make: (source: Source) => Value,
): () => Value {
  let made: WeakMap<Source, Value> | undefined;
  return () => {
    const source = sourceOf();
    made ??= new WeakMap();
    let value = made.get(source);
    if (!value) {
      value = make(source);
      made.set(source, value);
    }
    return value;
  };
}
