import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Facts about the installation as a whole; a single row. */
@Entity('installation')
export class InstallationEntity {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('text', { nullable: true })
  secretFingerprint!: string | null;

  @Column('text', { nullable: true })
  migratedBy!: string | null;
}
