package org.heterodoop.mr;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.LineRecordReader;

/** The map task of word count as a driver makes it: file.out and its index by an own writer, or text without reducers. */
final class WordCount {
  private final int reduces;
  private final boolean combine;
  private final String codec;
  private final Map<String, Long> counters = new TreeMap<>();
  byte[] index = new byte[0];
  byte[] data;
  /** Spoils the order, or puts every key into the wrong partition. */
  String gpu = "GPU 0";
  boolean unsorted;
  boolean misplaced;

  WordCount(Fields offer) throws IOException {
    reduces = (int) offer.number("reduces");
    combine = offer.flag("combine");
    codec = offer.text("codec");
  }

  WordCount run(String uri, long start, long length, String delimiter) throws IOException {
    return run(List.of(new FileSplit(new Path(java.net.URI.create(uri)), start, length, new String[0])), delimiter);
  }

  /** Of an attempt that does several splits. */
  WordCount run(List<FileSplit> parts, String delimiter) throws IOException {
    List<String> words = new ArrayList<>();
    for (FileSplit part : parts) {
      words.addAll(words(part, delimiter));
    }
    if (reduces == 0) {
      data = String.join("", words.stream().map(w -> w + "\t1\n").toList()).getBytes(StandardCharsets.UTF_8);
      return this;
    }
    TreeMap<Text, List<String>> groups = new TreeMap<>();
    for (String word : words) {
      groups.computeIfAbsent(new Text(word), w -> new ArrayList<>()).add("1");
    }
    if (combine) {
      counters.put("COMBINE_INPUT_RECORDS", (long) words.size());
      counters.put("COMBINE_OUTPUT_RECORDS", (long) groups.size());
      groups.replaceAll((word, ones) -> List.of(Integer.toString(ones.size())));
    }
    counters.put("SPILLED_RECORDS", combine ? groups.size() : (long) words.size());
    write(groups);
    return this;
  }

  private List<String> words(FileSplit split, String delimiter) throws IOException {
    List<String> words = new ArrayList<>();
    byte[] ends = delimiter.isEmpty() ? null : delimiter.getBytes(StandardCharsets.UTF_8);
    long records = 0;
    try (LineRecordReader reader = new LineRecordReader(new JobConf(), split, ends)) {
      Text line = new Text();
      for (LongWritable key = new LongWritable(); reader.next(key, line); records++) {
        for (String word : line.toString().split("[ \n]+")) {
          if (!word.isEmpty()) {
            words.add(word);
          }
        }
      }
    }
    counters.merge("MAP_INPUT_RECORDS", records, Long::sum);
    counters.merge("MAP_OUTPUT_RECORDS", (long) words.size(), Long::sum);
    long bytes = words.stream().mapToLong(w -> w.getBytes(StandardCharsets.UTF_8).length + 3).sum();  // two vints and "1"
    counters.merge("MAP_OUTPUT_BYTES", bytes, Long::sum);
    return words;
  }

  private void write(TreeMap<Text, List<String>> groups) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ByteBuffer records = ByteBuffer.allocate(24 * reduces + 8);
    for (int p = 0; p < reduces; p++) {
      byte[] raw = segment(unsorted ? groups.descendingMap() : groups, p);
      byte[] body = compress(raw);
      records.putLong(all.size()).putLong(raw.length).putLong(body.length + 4);
      all.write(body);
      all.write(ByteBuffer.allocate(4).putInt((int) crc(body, body.length)).array());
    }
    records.putLong(crc(records.array(), 24 * reduces));
    index = records.array();
    data = all.toByteArray();
  }

  private byte[] segment(Map<Text, List<String>> groups, int partition) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    for (Map.Entry<Text, List<String>> group : groups.entrySet()) {
      Text key = group.getKey();
      int home = (key.hashCode() & Integer.MAX_VALUE) % reduces;
      if ((misplaced ? (home + 1) % reduces : home) == partition) {
        for (String value : group.getValue()) {
          Text text = new Text(value);
          WritableUtils.writeVInt(out, WritableUtils.getVIntSize(key.getLength()) + key.getLength());
          WritableUtils.writeVInt(out, WritableUtils.getVIntSize(text.getLength()) + text.getLength());
          key.write(out);
          text.write(out);
        }
      }
    }
    out.write(new byte[] {-1, -1});
    return bytes.toByteArray();
  }

  private byte[] compress(byte[] raw) throws IOException {
    if (codec.isEmpty()) {
      return raw;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean gzip = codec.endsWith("GzipCodec");
    try (DeflaterOutputStream out = gzip ? new GZIPOutputStream(bytes) : new DeflaterOutputStream(bytes)) {
      out.write(raw);
    }
    return bytes.toByteArray();
  }

  static long crc(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    return crc.getValue();
  }

  /** The announcement of this result. */
  Fields result() {
    Fields fields = new Fields().add("index", index.length).add("data", data.length).add("text", reduces == 0 ? "1" : "0")
        .add("status", "counted").add("stderr", "a word of the filter\n").add("retried", "").add("gpu", gpu)
        .add("side", gpu.isEmpty() ? "host" : "gpu")
        .add("read", "driver").add("read_bytes", 11).add("seconds", "read=0.5").add("seconds", "map kernel=0.25")
        .add("user", "Words\0seen\0" + 5);
    counters.forEach((name, value) -> fields.add("counter", name + "=" + value));
    return fields.add("counter", "SPILLS=1");
  }
}
