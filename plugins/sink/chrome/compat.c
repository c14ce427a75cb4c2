/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TensorBoard's profiler plug-in takes the range of all its figures from host events of
 * the category cpu_op; where a trace has none, it shows nonsense. So each program gets
 * one, over everything, in a row of its own.
 */
#include "chrome.h"

bool ky_compat_set(struct ky_chrome *chrome, struct kymo_str reader)
{
	if (reader.size == 0)
		return true;
	chrome->for_tensorboard = ky_text_equal(reader, KYMO_STR("tensorboard"));
	return chrome->for_tensorboard;
}

static void write_whole(struct ky_chrome *chrome, uint32_t pid, uint32_t tid)
{
	const struct kymo_trace_header *header = chrome->header;
	struct ky_json *json = &chrome->json;
	uint64_t from, to;
	char *at;

	if (!ky_chrome_time(chrome, header->first_ns, &from) ||
	    !ky_chrome_time(chrome, header->last_ns, &to) || to < from)
		return;
	at = KY_PUT(ky_chrome_begin_event(chrome, 'X'),
		    ",\n    \"cat\": \"cpu_op\",\n    \"name\": \"whole recording\"");
	at = KY_PUT(ky_put_u64(KY_PUT(at, ",\n    \"pid\": "), pid), ",\n    \"tid\": ");
	at = KY_PUT(ky_put_u64(at, tid), ",\n    \"ts\": ");
	at = KY_PUT(ky_put_us(at, from), ",\n    \"dur\": ");
	at = KY_PUT(ky_put_us(at, to - from),
		    ",\n    \"args\": {\n      \"synthetic\": true\n    }\n  },");
	json->at = at;
	chrome->counts.synthetic++;
}

void ky_compat_write(struct ky_chrome *chrome)
{
	const struct kymo_trace_header *header = chrome->header;
	uint32_t i;

	if (!chrome->for_tensorboard)
		return;
	for (i = 0; i < header->process_count; i++) {
		const struct ky_home *home =
			ky_tracks_process(chrome, header->processes[i]);
		const uint32_t tid = ky_tracks_assign(&chrome->tracks);

		ky_tracks_begin_meta(chrome, KYMO_STR("thread_name"), home->pid, tid);
		KY_JSON_LITERAL(&chrome->json,
				"\"name\": \"whole recording (synthetic)\"");
		ky_tracks_end_meta(chrome);
		write_whole(chrome, home->pid, tid);
	}
}
