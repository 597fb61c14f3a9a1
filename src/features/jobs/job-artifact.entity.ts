import { Column, Entity, PrimaryColumn } from 'typeorm';
import { storedText } from '../../platform/database/stored-text.js';

/** A file that a job produced. */
@Entity('job_artifacts')
export class JobArtifactEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  jobId!: string;

  @Column('integer')
  position!: number;

  @Column('text', { transformer: storedText })
  contentType!: string;

  @Column('bigint', { default: 0 })
  bytes!: number;

  @Column('boolean', { default: false })
  kept!: boolean;

  @Column('timestamptz')
  removeAfter!: Date;

  @Column('timestamptz', { nullable: true })
  removedAt!: Date | null;
}
