package org.heterodoop.mr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.security.UserGroupInformation;

/** The first message: which task this is, so that the driver can say where it should run. */
final class Offer {
  private Offer() {
  }

  /** `retry`: the driver must answer "cpu"; it counts the attempt, and learns how long it took. */
  static Fields of(FileSplit split, JobConf job, boolean retry) throws IOException {
    String attempt = job.get(Settings.ATTEMPT_ID);
    Fields fields = new Fields()
        .add("version", Frame.VERSION)
        .add("job", TaskAttemptID.forName(attempt).getJobID().toString())
        .add("attempt", attempt)
        .add("path", split.getPath().toUri().toString())
        .add("start", split.getStart())
        .add("length", split.getLength())
        .add("maps", job.getNumMapTasks())
        .add("reduces", job.getNumReduceTasks())
        .add("bundle", job.get(Settings.BUNDLE_SHA256))
        .add("codec", Decline.codec(job))
        .add("delimiter", job.get(Settings.RECORD_DELIMITER, "").getBytes(StandardCharsets.UTF_8))
        .add("user", UserGroupInformation.getCurrentUser().getShortUserName())
        .add("node", node())
        .add("combine", job.getCombinerClass() == null || job.getNumReduceTasks() == 0 ? "0" : "1")
        .add("policy", job.get(Settings.POLICY, ""))
        .add("retry", retry ? "1" : "0");
    addParts(fields, split);
    addSettings(fields, job);
    return fields;
  }

  /** Of an attempt of several splits, each: address NUL start NUL length. */
  private static void addParts(Fields fields, FileSplit split) {
    if (split instanceof GroupedSplit) {
      for (FileSplit part : GroupedSplit.parts(split)) {
        fields.add("part", part.getPath().toUri() + "\0" + part.getStart() + "\0" + part.getLength());
      }
    }
  }

  private static void addSettings(Fields fields, JobConf job) {
    Map<String, String> settings = new TreeMap<>();
    for (Map.Entry<String, String> setting : job) {
      if (setting.getKey().startsWith(Settings.PREFIX)) {
        settings.put(setting.getKey(), job.get(setting.getKey()));
      }
    }
    for (String name : Settings.TOLD) {
      if (job.get(name) != null) {
        settings.put(name, job.get(name));
      }
    }
    settings.forEach((name, value) -> fields.add("conf", name + "=" + value));
  }

  /** HOST:PORT of the NodeManager, as YARN tells its containers; "" elsewhere. */
  private static String node() {
    String host = System.getenv("NM_HOST");
    String port = System.getenv("NM_PORT");
    return host == null || port == null ? "" : host + ":" + port;
  }
}
