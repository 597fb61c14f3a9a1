/** How a model's thinking is set. */
export type ThinkingControl =
  /** By a budget in tokens from `min` to `max`; 0 turns it off where that is possible. */
  | { by: 'budget'; min: number; max: number; canBeOff: boolean }
  /** By a level; thinking is never off. */
  | { by: 'level'; lowest: 'MINIMAL' | 'LOW' };

/** In what the models behind this dialect differ, as far as requests are concerned. */
export interface ModelTraits {
  /** Undefined: the model does not think. */
  thinking: ThinkingControl | undefined;
  /** Whether a tool call in the conversation is refused without the signature that came with it. */
  wantsSignedCalls: boolean;
  /** Whether calls and their results may carry ids; else they are told apart by name and order. */
  takesCallIds: boolean;
  /** Whether the result of a tool may hold pictures and documents. */
  takesMediaInResults: boolean;
  /** Most answers to one request. */
  maxCandidates: number;
  /** Whether temperature, top_p and top_k have any effect. */
  takesSampling: boolean;
  takesPenalties: boolean;
  /** Whether JSON can be asked for beside tools. */
  formatsBesideTools: boolean;
}
