import { Module } from '@nestjs/common';
import { PeopleModule } from '../../core/people/people.module.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { LoginCookies } from './login-cookies.js';
import { SessionsController } from './sessions.controller.js';

/** Login and logout. */
@Module({
  imports: [PeopleModule],
  controllers: [AuthController, SessionsController],
  providers: [AuthService, LoginCookies],
})
export class AuthModule {}
