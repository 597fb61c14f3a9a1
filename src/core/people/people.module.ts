import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InvitationEntity } from './invitation.entity.js';
import { MembershipEntity } from './membership.entity.js';
import { PersonEntity } from './person.entity.js';
import { InvitationsService } from './invitations.service.js';
import { KeyLogin } from './key-login.service.js';
import { LoginLinkEntity } from './login-link.entity.js';
import { LoginLinks } from './login-links.service.js';
import { MembersService } from './members.service.js';
import { OidcClient } from './oidc-client.service.js';
import { PeopleService } from './people.service.js';
import { PersonLogin } from './person-login.service.js';

const SERVICES = [
  InvitationsService,
  KeyLogin,
  LoginLinks,
  MembersService,
  OidcClient,
  PeopleService,
  PersonLogin,
];

/** People: how they log in, the tenants they are members of, and invitations. */
@Module({
  imports: [
    TypeOrmModule.forFeature([InvitationEntity, LoginLinkEntity, MembershipEntity, PersonEntity]),
  ],
  providers: SERVICES,
  exports: SERVICES,
})
export class PeopleModule {}
