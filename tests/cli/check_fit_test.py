#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo check on what single readers want beyond the format: each test makes the smallest file on
which that reader was seen to fail, and the nearest one on which it does not. Prints TAP;
`check_fit_test.py WORD` runs the tests whose names have the word."""
import gzip
import json

from check_tool import arrow, check, main, put, span


def found(data, reader):
    """What that reader does with the file, by finding."""
    return {id: finding["readers"][reader]
            for id, finding in check(put("t.json", data), "--reader", reader).items()}


def of_host(name, ts=0, **more):
    return dict(span(name, ts, tid=3, pid=2, **more), cat="cuda_runtime")


def of_device(name="k", ts=10, **args):
    return span(name, ts, tid=9, args={"device": 0, "stream": 7, "correlation": 5, **args})


# ---- HTA ----

def test_the_first_rank_in_the_text_is_the_one_that_is_read():
    own = '"distributedInfo":{"rank": 3}'
    events = '"traceEvents":[' + json.dumps(span(cat="c")) + "]"
    assert found("{%s,%s}" % (own, events), "hta") == {}
    assert found("{%s,%s}" % (own.replace(" ", ""), events), "hta") == {"rank-unseen": "wrong"}
    info, ranked = '"info":{"rank": 9}', events.replace('"a": 1', '"rank": 9')
    for wrong in ((info, own, events), (ranked, own)):
        assert found("{%s}" % ",".join(wrong), "hta") == {"rank-elsewhere": "wrong"}, wrong
    for right in ((own, info, events), (own, ranked)):
        assert found("{%s}" % ",".join(right), "hta") == {}, right
    assert found('{"a":{"rank": 3},%s,%s}' % (own, events), "hta") == {}
    text = '{"a":"\\"rank\\": 9",%s,%s}' % (own, events)  # within a text it has backslashes
    assert found(text, "hta") == {}


def test_a_rank_is_found_wherever_the_file_is_read_in_parts():
    text = '{"a":{"rank": 1234567},"distributedInfo":{"rank": 3},"traceEvents":[]}'
    for blanks in range((256 << 10) - 30, 256 << 10):  # it is read in parts of 256 KiB
        assert "rank-elsewhere" in found(" " * blanks + text, "hta"), blanks


def test_a_file_without_args_is_refused():
    bare = {key: value for key, value in span().items() if key != "args"}
    assert found([bare], "hta") == {"no-args": "refuses"}
    assert found([bare, span(args={})], "hta") == {}
    assert check(put("t.json", [bare]), status=0) == {}


def test_a_stream_makes_a_launch_work_of_the_device():
    launch = of_host("cudaLaunchKernel", args={"stream": 7, "correlation": 5})
    assert found([launch, of_device()], "hta") == {"stream-on-host": "wrong"}
    launch["args"] = {"correlation": 5}
    assert found([launch, of_device()], "hta") == {}


def test_a_file_of_names_only_is_refused():
    name = {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "x"}}
    assert found([name], "hta") == {"only-names": "refuses"}
    assert found([name, span()], "hta") == {} and found([], "hta") == {}


def test_device_work_of_the_last_of_several_steps_is_dropped():
    steps = [dict(span(f"ProfilerStep#{i}", 100 * i, pid=2), cat="user_annotation") for i in (1, 2)]
    assert found([*steps, of_device(ts=150)], "hta") == {"profiler-steps": "drops"}
    assert found([steps[0], of_device(ts=150)], "hta") == found(steps, "hta") == {}
    on_device = dict(steps[0], cat="gpu_user_annotation", tid=9)
    assert found([steps[0], on_device, of_device(ts=150)], "hta") == {}


def test_spans_of_category_trace_are_dropped():
    assert found([dict(span(), cat="Trace")], "hta") == {"trace-category": "drops"}


def test_a_repeated_correlation_costs_the_queue_lengths_only():
    launches = [of_host("a", args={"correlation": 5}), of_host("b", 20, args={"correlation": 5})]
    assert found([*launches, of_device(ts=30)], "hta") == {"correlation-repeated": "drops"}


# ---- Firefox ----

def test_a_bare_list_is_known_by_its_first_event():
    for key in ("cat", "args"):
        first = {name: value for name, value in span().items() if name != key}
        assert found(json.dumps([first, span(ts=20)]), "firefox") == {"first-event": "refuses"}, key
        assert found([first, span(ts=20)], "firefox") == {}, key
        assert found(json.dumps([span(), dict(first, ts=20)]), "firefox") == {}, key


# ---- Perfetto ----

def test_integers_beyond_63_bits_are_read_as_others():
    counter = {"ph": "C", "cat": "c", "name": "n", "pid": 1, "ts": 1}
    for value, ids in ((2 ** 63 - 1, {}), (-2 ** 63, {}), (2 ** 63, {"huge-integer": "wrong"}),
                       (-2 ** 63 - 1, {"huge-integer": "wrong"}), (2 ** 64 - 1, {"huge-integer": "wrong"}),
                       (10 ** 30, {"huge-integer": "wrong"})):
        assert found([span(args={"a": value})], "perfetto") == ids, value
        assert found([dict(counter, args={"a": value})], "perfetto") == ids, value


def test_more_than_18_digits_on_a_side_of_the_point_are_read_as_others():
    for number, is_long in (("123456789012345678.5", False), ("1234567890123456789.5", True),
                            ("-1234567890123456789.5", True), ("1234567890123456789e1", True),
                            ("0.123456789012345678", False), ("0.1234567890123456789", True),
                            ("1.2345678901234567e-05", False)):
        text = json.dumps([span(args={"a": "N"})]).replace('"N"', number)
        assert found(text, "perfetto") == ({"long-fraction": "wrong"} if is_long else {}), number


def test_an_arrow_before_its_span_of_no_length_is_lost():
    launch, work = span("launch", 1, 2, tid=2), span("k", 4, 0)
    ends = [launch, arrow("s", 1, tid=2)]
    assert found([*ends, arrow("f", 4), work], "perfetto") == {"arrow-before-empty": "drops"}
    assert found([*ends, work, arrow("f", 4)], "perfetto") == {}
    assert found([*ends, arrow("f", 4), dict(work, dur=1)], "perfetto") == {}
    # One that lasts holds the arrow as well.
    assert found([*ends, arrow("f", 4), span("around", 4, 9), work], "perfetto") == {}


def test_a_gzip_member_behind_the_end_costs_the_file():
    text = json.dumps({"traceEvents": [span()]}).encode()
    two = gzip.compress(text) + gzip.compress(b"\n")
    assert found(two, "perfetto") == {"gzip-after-end": "refuses"}
    for sound in (gzip.compress(text + b"\n"), gzip.compress(text) + gzip.compress(b""),
                  gzip.compress(text[:-1]) + gzip.compress(text[-1:] + b"\n")):
        assert found(sound, "perfetto") == {}
    check(put("t.json.gz", two), "--repair", "out.json.gz", status=1)
    assert check("out.json.gz", "--reader", "perfetto", status=0) == {}


def test_labels_of_processes_are_ignored():
    labels = {"ph": "M", "name": "process_labels", "pid": 1, "ts": 0, "args": {"labels": "GPU 0"}}
    assert found([span(), labels], "perfetto") == {"labels-ignored": "drops"}
    assert check("t.json", status=0) == {}
    # What stands in the name of the same process as well is shown.
    name = {"ph": "M", "name": "process_name", "pid": 1, "ts": 0, "args": {"name": "GPU 0: H200"}}
    assert found([span(), name, labels], "perfetto") == {}
    assert found([span(), dict(name, pid=2), labels], "perfetto") == {"labels-ignored": "drops"}
    assert found([span(), dict(name, args={"name": "H200"}), labels], "perfetto") == {"labels-ignored": "drops"}
    assert found([span(), name, dict(labels, args={"labels": "GPU 1"})], "perfetto") == {"labels-ignored": "drops"}
    assert found([span(), name, dict(labels, args={"labels": 0})], "perfetto") == {"labels-ignored": "drops"}
    # As of every process that is no device.
    assert found([span(), dict(labels, args={"labels": "CPU"})], "perfetto") == {}


def test_an_instant_of_unknown_scope_is_drawn_on_its_thread():
    instant = {"ph": "i", "cat": "c", "name": "n", "pid": 1, "tid": 1, "ts": 1, "args": {}}
    assert found([dict(instant, s="zz")], "perfetto") == found([instant], "perfetto") == {}
    assert found([dict(instant, s="zz")], "chrome") == {"instant-scope": "drops"}
    del instant["tid"]
    assert found([instant], "perfetto") == {"instant-no-row": "drops"}
    assert found([dict(instant, s="p")], "perfetto") == {}


# ---- TensorBoard ----

def test_rows_of_operators_are_integers():
    for tid, ids in (("T1", {"tid-no-number": "refuses"}), ("7", {}), ("-7", {}), (7, {})):
        assert found([dict(span(tid=tid), cat="cpu_op")], "tensorboard") == ids, tid
    assert found([dict(span(tid="T1"), cat="other")], "tensorboard") == {}


def test_a_device_has_a_number_and_a_host_an_operator():
    operator = dict(span("op", 0, 90, pid=2), cat="cpu_op")
    assert found([operator, of_device()], "tensorboard") == {}
    assert found([of_device()], "tensorboard") == {"no-operator": "wrong"}
    assert found([dict(operator, name="ProfilerStep#1", cat="user_annotation"), of_device()],
                 "tensorboard") == {}
    assert found([operator, span(args={"stream": 7})], "tensorboard") == {"device-missing": "drops"}


if __name__ == "__main__":
    main(globals())
