// What Hadoop itself makes of keys: lines split into pairs, partitions, comparisons. Reads one question a line, answers
// one a line; texts are hexadecimal, "-" is none. tests/keys/golden.py asks.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Partitioner;
import org.apache.hadoop.mapred.lib.KeyFieldBasedComparator;
import org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner;
import org.apache.hadoop.streaming.io.TextOutputReader;
import org.apache.hadoop.util.ReflectionUtils;

public final class HadoopKeys {
  private static final HexFormat HEX = HexFormat.of();
  private static String[] last = {};
  private static Object made;

  private static byte[] bytes(String hex) {
    return hex.equals("-") ? new byte[0] : HEX.parseHex(hex);
  }

  private static String text(byte[] data, int length) {
    return length == 0 ? "-" : HEX.formatHex(data, 0, length);
  }

  private static JobConf conf(String separator, String options, String setting) {
    JobConf conf = new JobConf(false);
    if (!separator.equals("-"))
      conf.set("mapreduce.map.output.key.field.separator", new String(bytes(separator), StandardCharsets.UTF_8));
    if (!options.equals("-")) conf.set(setting, new String(bytes(options), StandardCharsets.UTF_8));
    return conf;
  }

  // split SEPARATOR FIELDS LINE -> KEY VALUE
  private static String split(String[] q) throws Exception {
    TextOutputReader reader = new TextOutputReader();
    Field separator = TextOutputReader.class.getDeclaredField("separator");
    Field fields = TextOutputReader.class.getDeclaredField("numKeyFields");
    separator.setAccessible(true);
    fields.setAccessible(true);
    separator.set(reader, bytes(q[1]));
    fields.setInt(reader, Integer.parseInt(q[2]));
    Method cut = TextOutputReader.class.getDeclaredMethod("splitKeyVal", byte[].class, int.class, Text.class, Text.class);
    cut.setAccessible(true);
    Text key = new Text();
    Text value = new Text();
    byte[] line = bytes(q[3]);
    cut.invoke(reader, line, line.length, key, value);
    return text(key.getBytes(), key.getLength()) + " " + text(value.getBytes(), value.getLength());
  }

  // partition SEPARATOR OPTIONS REDUCERS KEY, fields SEPARATOR N REDUCERS KEY -> NUMBER
  @SuppressWarnings("unchecked")
  private static String partition(String[] q) {
    boolean fields = q[0].equals("fields");
    JobConf conf = conf(q[1], fields ? "-" : q[2], "mapreduce.partition.keypartitioner.options");
    if (fields) conf.set("num.key.fields.for.partition", q[2]);
    Partitioner<Text, Text> one = ReflectionUtils.newInstance(KeyFieldBasedPartitioner.class, conf);
    return "" + one.getPartition(new Text(bytes(q[4])), new Text(), Integer.parseInt(q[3]));
  }

  private static byte[] serialized(String hex) throws Exception {
    DataOutputBuffer out = new DataOutputBuffer();
    new Text(bytes(hex)).write(out);
    return java.util.Arrays.copyOf(out.getData(), out.getLength());
  }

  // compare SEPARATOR OPTIONS A B -> -1, 0 or 1
  private static String compare(String[] q) throws Exception {
    if (last.length != 5 || !last[1].equals(q[1]) || !last[2].equals(q[2]))
      made = ReflectionUtils.newInstance(KeyFieldBasedComparator.class, conf(q[1], q[2], "mapreduce.partition.keycomparator.options"));
    last = q;
    byte[] a = serialized(q[3]);
    byte[] b = serialized(q[4]);
    return "" + Integer.signum(((RawComparator<?>) made).compare(a, 0, a.length, b, 0, b.length));
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "US-ASCII");
    for (String line; (line = in.readLine()) != null; ) {
      String[] q = line.split(" ");
      String answer;
      try {
        answer = switch (q[0]) {
          case "split" -> split(q);
          case "partition", "fields" -> partition(q);
          default -> compare(q);
        };
      } catch (Exception failure) {
        Throwable cause = failure instanceof java.lang.reflect.InvocationTargetException ? failure.getCause() : failure;
        answer = "! " + cause.getClass().getSimpleName();
      }
      out.println(answer);
    }
    out.flush();
  }
}
