import { Injectable } from '@nestjs/common';
import { ArtifactAccess, type ServableArtifact } from './artifact-access.js';

/** Where the owner of artifacts is asked about them; without one there are none. */
@Injectable()
export class ArtifactDesk extends ArtifactAccess {
  private owner: ArtifactAccess | undefined;

  bind(owner: ArtifactAccess): void {
    this.owner = owner;
  }

  async lookUp(artifactId: string): Promise<'unknown' | 'expired' | ServableArtifact> {
    return this.owner ? this.owner.lookUp(artifactId) : 'unknown';
  }

  async fetched(artifactId: string): Promise<void> {
    await this.owner?.fetched(artifactId);
  }
}
