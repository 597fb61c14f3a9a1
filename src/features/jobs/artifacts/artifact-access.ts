/** An artifact that may be read now. */
export interface ServableArtifact {
  readonly contentType: string;
  readonly bytes: number;
}

/**
 * What the owner of artifacts says about one, when somebody comes with its URL. The owner stands in
 * a higher layer and hangs itself in: `ArtifactDesk.bind` when its module starts.
 */
export abstract class ArtifactAccess {
  /** `expired`: it was there, and is not to be read any more. */
  abstract lookUp(artifactId: string): Promise<'unknown' | 'expired' | ServableArtifact>;

  /** A first byte of it, or a redirect to it, has been sent. Called for each such answer. */
  abstract fetched(artifactId: string): Promise<void>;
}
