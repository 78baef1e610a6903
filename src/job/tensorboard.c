/* TensorBoard, a companion: what of it is its own. */
#include "base/buf.h"
#include "job/companion_make.h"
#include "object/labels.h"

enum { TENSORBOARD_LOG_DIR = COMPANION_OWN, LOG_DIR_MAX = 4096 };

static const struct decode_field fields[] = {
	{ "logDir", FIELD_STR, COMPANION_AT(log_dir), .said = TENSORBOARD_LOG_DIR },
	COMPANION_FIELDS,
};

static struct str log_dir(const struct companion_policy *c)
{
	return c->log_dir;
}

static void put_command(struct buf *out, const struct companion_policy *c)
{
	buf_put(out, STR("\"tensorboard\",\"--logdir\","));
	buf_json_str(out, c->log_dir);
}

static void check_log_dir(const struct companion_policy *c, const struct companion_docs *docs)
{
	struct str path = companion_path(docs, TENSORBOARD_LOG_DIR), dir = c->log_dir;

	/* A wrong type was already reported when the field was read. */
	if (companion_is_told(docs, TENSORBOARD_LOG_DIR))
		return;
	if (!dir.n)
		problem_error(docs->p, path, "must not be empty: where does the training write its events?");
	else if (dir.n > LOG_DIR_MAX)
		problem_error(docs->p, path, "has more than %d characters", LOG_DIR_MAX);
	else if (dir.p[0] == '-')
		problem_error(docs->p, path, "must not begin with '-'");
}

const struct companion_make companion_tensorboard = {
	.type = {
		.name = "tensorboard",
		.title = "TensorBoard",
		.annotation = LABEL_DOMAIN "tensorboard",
		.port = 6006,
		.port_name = "tb-port",
		.host_flag = "--host",
		.port_flag = "--port",
		.install = "pip install tensorboard",
	},
	.image = "tensorflow/tensorflow",
	.fields = TABLE_OF(fields),
	.annotation = log_dir,
	.put_command = put_command,
	.check = check_log_dir,
};
