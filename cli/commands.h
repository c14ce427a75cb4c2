/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands: each reads its own arguments, argv[0] being its name, and gives the exit
 * status. */
#ifndef KYMO_CLI_COMMANDS_H
#define KYMO_CLI_COMMANDS_H

int ky_cli_record(int argc, char **argv);
int ky_cli_export(int argc, char **argv);
int ky_cli_info(int argc, char **argv);
int ky_cli_check(int argc, char **argv);
int ky_cli_doctor(int argc, char **argv);
int ky_cli_config(int argc, char **argv);
int ky_cli_types(int argc, char **argv);

#endif
