/** What its tenant decides of a destination. */
export interface DestinationDraft {
  isEnabled: boolean;
  url: string;
  /** Sent with each delivery. */
  headers: Readonly<Record<string, string>>;
  /** 0 to 1: the share of traces that is sent, decided by trace id. */
  samplingRate: number;
  includesContent: boolean;
}

export interface DestinationRecord extends Omit<DestinationDraft, 'headers'> {
  id: string;
  /** Undefined when nobody can read them any more, since they were sealed with another secret. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Traces. */
  deliveredCount: number;
  droppedCount: number;
  /** Deliveries that wait, batches of traces. */
  pendingCount: number;
  lastSuccessAt: Date | null;
  lastError: string | null;
  lastErrorAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What has to be known of a destination to choose the traces that it gets. */
export interface DestinationChoice extends Pick<
  DestinationRecord,
  'id' | 'samplingRate' | 'includesContent'
> {
  /** Whether the last that was heard of its receiver, a moment ago, is a failure. */
  isFailing: boolean;
}
