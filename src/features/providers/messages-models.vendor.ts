/** Vendor-specific names in the messages dialect's list of models. */

/** Paths for clients with a base URL below `/v1`; others send `GET /v1/models` with the header. */
export const MESSAGES_MODELS_PATHS = ['v1', 'api/v1'].flatMap((base) =>
  ['anthropic', 'vendora'].flatMap((name) => [
    `${base}/${name}/v1/models`,
    `${base}/${name}/models`,
  ]),
);

/** Every client of the dialect sends it. */
export const MESSAGES_VERSION_HEADER = 'anthropic-version';
