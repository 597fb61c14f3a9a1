/** Returns a function that computes its value on the first call and caches it. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * Caches one derived value per source object. The cache is weak: the value is released with its source
 * and computed again for a new one.
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
