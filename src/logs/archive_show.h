/* Shows what an archive has kept of a job, merged in the order of the lines' times. No cluster is asked. */
#ifndef LOGS_ARCHIVE_SHOW_H
#define LOGS_ARCHIVE_SHOW_H

#include "client/cli.h"
#include "logs/logs.h"

/* NAME: [KIND/]NAME; NS may be NULL: wherever there is one of that name. Of several jobs that had the name one after
   the other it is the last. All generations are shown. */
enum exit_code archive_show(struct cli *cli, const struct kinds *kinds, const char *dir, const char *ns,
                            const char *name, const struct logs_options *o);

#endif
