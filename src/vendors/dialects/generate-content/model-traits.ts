/** How a model's thinking is controlled. */
export type ThinkingControl =
  /** By a budget in tokens from `min` to `max`; 0 turns it off if `canBeOff`. */
  | { by: 'budget'; min: number; max: number; canBeOff: boolean }
  /** By a level; thinking is never off. */
  | { by: 'level'; lowest: 'MINIMAL' | 'LOW' };

/** Request features that differ between the models behind this dialect. */
export interface ModelTraits {
  /** Undefined: the model does not think. */
  thinking: ThinkingControl | undefined;
  /** Rejects a tool call in the conversation without its signature. */
  wantsSignedCalls: boolean;
  /** Supports ids of calls and results; otherwise they are matched by name and order. */
  takesCallIds: boolean;
  /** Supports images and documents in tool results. */
  takesMediaInResults: boolean;
  /** Maximum number of answers per request. */
  maxCandidates: number;
  /** Temperature, top_p and top_k have an effect. */
  takesSampling: boolean;
  takesPenalties: boolean;
  /** Supports JSON formats together with tools. */
  formatsBesideTools: boolean;
}
