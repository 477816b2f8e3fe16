// Streaming jobs in one process, by Hadoop's LocalJobRunner: its own map and reduce tasks. tests/keys/test_streaming.py runs it.
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.SequenceFile.Writer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.ToolRunner;

public final class HadoopJobs {
  private static final Configuration LOCAL = new Configuration(false);

  // A folder for SequenceFiles; words of streaming's command, "--" behind each job's.
  public static void main(String[] words) throws Exception {
    LOCAL.set("fs.defaultFS", "file:///");
    LOCAL.set("fs.file.impl.disable.cache", "true"); // each job says how long its blocks are
    write(words[0]);
    List<String> job = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      if (!words[i].equals("--")) {
        job.add(words[i]);
        continue;
      }
      Configuration conf = new Configuration(LOCAL);
      conf.set("mapreduce.framework.name", "local");
      int status = ToolRunner.run(conf, new StreamJob(), job.toArray(new String[0]));
      if (status != 0) System.exit(status);
      job.clear();
    }
  }

  private static void write(String folder) throws Exception {
    write(folder + "/plain.seq", CompressionType.NONE, new DefaultCodec());
    write(folder + "/records.gz", CompressionType.RECORD, new DefaultCodec()); // what a name says does not matter
    write(folder + "/blocks.seq", CompressionType.BLOCK, new DefaultCodec());
    write(folder + "/bzip2.seq", CompressionType.BLOCK, new BZip2Codec());
    write(folder + "/snappy.seq", CompressionType.RECORD, new SnappyCodec());
    try (Writer numbers = writer(folder + "/numbers.seq", CompressionType.NONE, new DefaultCodec(),
        NullWritable.class, VLongWritable.class)) {
      for (long n = 1; n != 0; n = n > 0 ? -n : n == Long.MIN_VALUE ? 0 : n * -2) {
        numbers.append(NullWritable.get(), new VLongWritable(n));
        numbers.append(NullWritable.get(), new VLongWritable(n - 1));
      }
    }
    try (Writer numbers = writer(folder + "/integers.seq", CompressionType.BLOCK, new DefaultCodec(),
        LongWritable.class, IntWritable.class)) {
      for (int n = -3; n < 4; n++) numbers.append(new LongWritable(n * 5_000_000_000L), new IntWritable(n * 500_000_000));
    }
    try (Writer booleans = writer(folder + "/booleans.seq", CompressionType.NONE, new DefaultCodec(),
        BytesWritable.class, BooleanWritable.class)) {
      booleans.append(new BytesWritable(new byte[] {0, 127, -128, -1, 9}), new BooleanWritable(true));
      booleans.append(new BytesWritable(), new BooleanWritable(false));
    }
  }

  // Texts with line ends, tabs and bytes that are no UTF-8, in enough records for several splits and blocks.
  private static void write(String path, CompressionType type, CompressionCodec codec) throws Exception {
    try (Writer file = writer(path, type, codec, Text.class, BytesWritable.class)) {
      byte[] noise = new byte[600];
      for (int n = 0; n < 500; n++) {
        for (int i = 0; i < noise.length; i++) noise[i] = (byte) (i * i * n >> 3);
        Text key = new Text();
        key.set(ODD[n % ODD.length], 0, ODD[n % ODD.length].length);
        if (n % 3 == 0) key.append(noise, n, 40);
        file.append(key, new BytesWritable(noise, n % 50 == 0 ? 600 : n % 100));
      }
    }
  }

  private static final byte[][] ODD = {
    {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF, 'm', 'a', 'r', 'k'}, {}, {'a', '\t', 'b', '\r', '\n', 'c', '\r'},
    {(byte) 0xED, (byte) 0xA0, (byte) 0x80, 'x', (byte) 0xED, (byte) 0xA0}, {(byte) 0xE1, (byte) 0x80, 'x', (byte) 0xC0, (byte) 0x80},
    {(byte) 0xF0, (byte) 0x9F, (byte) 0x98}, {(byte) 0xED, (byte) 0xB0, 'x', (byte) 0xF5, (byte) 0x80, (byte) 0x80},
    {'U', 'l', 'm', ' ', (byte) 0xC3, (byte) 0xA4}};

  private static Writer writer(String path, CompressionType type, CompressionCodec codec, Class<? extends Writable> key,
      Class<? extends Writable> value) throws Exception {
    Configuration conf = new Configuration(LOCAL);
    conf.setInt("io.seqfile.compress.blocksize", 20_000);
    CompressionCodec one = ReflectionUtils.newInstance(codec.getClass(), conf);
    return SequenceFile.createWriter(conf, Writer.file(new Path(path)), Writer.keyClass(key), Writer.valueClass(value),
        Writer.compression(type, one));
  }
}
