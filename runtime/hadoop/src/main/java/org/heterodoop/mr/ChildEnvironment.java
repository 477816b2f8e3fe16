package org.heterodoop.mr;

import java.nio.charset.Charset;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;

/**
 * The environment that streaming gives to a map child: the task's own, every job setting, stream.addenvironment, TMPDIR.
 *
 * <p>As org.apache.hadoop.streaming.PipeMapRed makes it (addJobConfToEnvironment, addEnvironment; not callable from here).
 */
final class ChildEnvironment {
  private ChildEnvironment() {
  }

  static Map<String, String> of(JobConf job) {
    Map<String, String> env = new HashMap<>(System.getenv());
    addSettings(job, env);
    for (String pair : job.get(Settings.ADD_ENVIRONMENT, "").split(" ")) {
      String[] nameAndValue = pair.split("=", 2);
      if (nameAndValue.length == 2) {
        env.put(nameAndValue[0], nameAndValue[1]);
      }
    }
    env.put("TMPDIR", System.getProperty("java.io.tmpdir"));
    return env;
  }

  private static void addSettings(JobConf job, Map<String, String> env) {
    JobConf conf = new JobConf(job);
    conf.setDeprecatedProperties();  // filters ask for map_input_file as well as for mapreduce_map_input_file
    int limit = conf.getInt(Settings.TRUNCATE_LIMIT, Settings.TRUNCATE_LIMIT_DEFAULT);
    for (Map.Entry<String, String> setting : conf) {
      String value = conf.get(setting.getKey());  // with ${...} expanded
      boolean cut = limit > -1 && value.length() > limit;
      env.put(variable(setting.getKey()), cut ? value.substring(0, limit) : value);
    }
  }

  /** A variable's name: what is no ASCII letter or digit becomes an underscore. */
  private static String variable(String setting) {
    StringBuilder name = new StringBuilder(setting);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (!(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')) {
        name.setCharAt(i, '_');
      }
    }
    return name.toString();
  }

  /** Adds one field NAME=VALUE a variable, in the bytes that a child process would find. */
  static void addTo(Fields fields, JobConf job) {
    Charset charset = childCharset();
    of(job).forEach((name, value) -> fields.add("env", (name + "=" + value).getBytes(charset)));
  }

  /** How ProcessBuilder turns text into bytes: up to Java 17 with the default charset, later with that of the locale. */
  private static Charset childCharset() {
    String name = System.getProperty("sun.jnu.encoding");
    boolean locale = !System.getProperty("java.specification.version").matches("1\\..*|9|1[0-7]");
    return locale && name != null && Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
  }
}
