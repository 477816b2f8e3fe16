package org.heterodoop.mr;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;

/** What the driver says of a finished task, before the bytes: RESULT. Sizes in bytes. */
final class MapResult {
  private static final int USER_COUNTER_PARTS = 3;
  /** How the name of a GPU that is none begins. */
  private static final String EMULATED = "emulated";

  final long indexBytes;
  final long dataBytes;
  final String status;
  final byte[] stderr;
  /** Why the driver computed it twice, or "". */
  final String retried;
  /** What made it was a host kernel. */
  final boolean onHost;
  final String gpu;
  final long readBytes;
  final Map<String, Double> seconds = new LinkedHashMap<>();
  private final Map<TaskCounter, Long> counters = new LinkedHashMap<>();
  private final List<UserCounter> userCounters = new ArrayList<>();

  private static final class UserCounter {
    final String group;
    final String name;
    final long value;

    UserCounter(String group, String name, long value) {
      this.group = group;
      this.name = name;
      this.value = value;
    }
  }

  /** `text`: the job has no reducers, so the data must be text and come without an index. */
  MapResult(Fields fields, boolean text) throws ProtocolException {
    if (fields.flag("text") != text) {
      throw new ProtocolException(text ? "the driver made a map output for a job without reducers"
          : "the driver made text for a job with reducers");
    }
    dataBytes = fields.number("data");
    indexBytes = text ? 0 : fields.number("index");
    status = fields.text("status");
    stderr = fields.bytes("stderr");
    retried = fields.text("retried");
    gpu = fields.text("gpu");
    onHost = fields.text("side").equals("host");
    readBytes = fields.has("read_bytes") ? fields.number("read_bytes") : 0;
    readCounters(fields);
    readSeconds(fields);
  }

  private void readCounters(Fields fields) throws ProtocolException {
    for (String text : fields.texts("counter")) {
      int at = text.indexOf('=');
      TaskCounter counter = at < 0 ? null : settable(text.substring(0, at));
      if (counter != null) {  // the driver knows others, such as the number of spills, that Hadoop has no place for
        counters.put(counter, Fields.number("counter " + counter, text.substring(at + 1)));
      }
    }
    for (String text : fields.texts("user")) {
      String[] parts = text.split("\0", -1);
      if (parts.length != USER_COUNTER_PARTS) {
        throw new ProtocolException("not a user counter: " + text);
      }
      try {
        userCounters.add(new UserCounter(parts[0], parts[1], Long.parseLong(parts[2])));
      } catch (NumberFormatException e) {
        throw new ProtocolException("the counter " + parts[0] + ":" + parts[1] + " has the value " + parts[2]);
      }
    }
  }

  private void readSeconds(Fields fields) throws ProtocolException {
    for (String text : fields.texts("seconds")) {
      int at = text.indexOf('=');
      try {
        seconds.put(text.substring(0, Math.max(at, 0)), Double.parseDouble(text.substring(at + 1)));
      } catch (NumberFormatException e) {
        throw new ProtocolException("not a stage's time: " + text);
      }
    }
  }

  /** The counters that only whoever makes the map output knows; all else Hadoop counts itself. */
  private static TaskCounter settable(String name) {
    switch (name) {
      case "MAP_INPUT_RECORDS":
        return TaskCounter.MAP_INPUT_RECORDS;
      case "MAP_OUTPUT_RECORDS":
        return TaskCounter.MAP_OUTPUT_RECORDS;
      case "MAP_OUTPUT_BYTES":
        return TaskCounter.MAP_OUTPUT_BYTES;
      case "COMBINE_INPUT_RECORDS":
        return TaskCounter.COMBINE_INPUT_RECORDS;
      case "COMBINE_OUTPUT_RECORDS":
        return TaskCounter.COMBINE_OUTPUT_RECORDS;
      case "SPILLED_RECORDS":
        return TaskCounter.SPILLED_RECORDS;
      default:
        return null;
    }
  }

  /** Counts the task as Hadoop would have, and where it ran. Only for a result that is in its place. */
  void count(Reporter reporter, boolean text, HeteroCounters own) {
    counters.forEach((counter, value) -> {
      boolean unknownToHadoop = text && counter == TaskCounter.MAP_OUTPUT_BYTES;  // it counts no bytes without a sort
      if (value > 0 && !unknownToHadoop) {
        reporter.incrCounter(counter, value);
      }
    });
    if (!text) {
      reporter.incrCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES, dataBytes);
    }
    for (UserCounter counter : userCounters) {
      reporter.incrCounter(counter.group, counter.name, counter.value);
    }
    reporter.incrCounter(FileInputFormatCounter.BYTES_READ, readBytes);
    if (onHost) {
      HeteroCounters.count(reporter, HeteroCounters.CPU_MAPS, 1);
      HeteroCounters.count(reporter, HeteroCounters.HOST_KERNEL_MAPS, 1);
    } else {
      HeteroCounters.count(reporter, HeteroCounters.GPU_MAPS, 1);
      HeteroCounters.count(reporter, HeteroCounters.GPU_READ_BYTES, readBytes);
    }
    if (gpu.startsWith(EMULATED)) {
      HeteroCounters.count(reporter, HeteroCounters.EMULATED_MAPS, 1);
    }
    seconds.forEach((stage, value) -> own.stage(onHost, stage, value));
  }

  /** The times of the stages as a person reads them. */
  String times() {
    List<String> parts = new ArrayList<>();
    seconds.forEach((stage, value) -> parts.add(String.format(Locale.ROOT, "%s %.3f s", stage, value)));
    return String.join(", ", parts.isEmpty() ? Collections.singletonList("no times") : parts);
  }
}
