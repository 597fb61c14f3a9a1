/** The words of the messages dialect that spell its vendor, as far as models are asked for in it. */

/** Where clients ask that were given a base below `/v1`; others ask for `/v1/models`, with the header. */
export const MESSAGES_MODELS_PATHS = ['v1', 'api/v1'].flatMap((base) =>
  ['anthropic', 'vendora'].flatMap((name) => [
    `${base}/${name}/v1/models`,
    `${base}/${name}/models`,
  ]),
);

/** Every client of the dialect sends it. */
export const MESSAGES_VERSION_HEADER = 'anthropic-version';
