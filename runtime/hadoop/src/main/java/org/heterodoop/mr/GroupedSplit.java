package org.heterodoop.mr;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.FileSplit;

/**
 * Several splits that one attempt does: its parts, in the order of the input.
 *
 * <p>To Hadoop it is a split of the first part's file with the length of all, so that MapTask counts the bytes that are read
 * (TrackedRecordReader asks for the file system of a FileSplit's path). Not a CombineFileSplit: of that nothing is counted.
 */
final class GroupedSplit extends FileSplit {
  private static final int SHOWN = 4;

  private FileSplit[] parts = {};

  /** For Hadoop, which reads it then. */
  GroupedSplit() {
  }

  /** `parts`: two at least. `hosts`: where most of their bytes are. */
  GroupedSplit(FileSplit[] parts, String[] hosts) {
    super(parts[0].getPath(), parts[0].getStart(), length(parts), hosts);
    this.parts = parts;
  }

  private static long length(FileSplit[] parts) {
    long sum = 0;
    for (FileSplit part : parts) {
      sum += part.getLength();
    }
    return sum;
  }

  /** The splits that an attempt of this one does. */
  static FileSplit[] parts(FileSplit split) {
    return split instanceof GroupedSplit ? ((GroupedSplit) split).parts.clone() : new FileSplit[] {split};
  }

  @Override
  public void write(DataOutput out) throws IOException {
    super.write(out);
    WritableUtils.writeVInt(out, parts.length);
    for (FileSplit part : parts) {
      Text.writeString(out, part.getPath().toString());
      WritableUtils.writeVLong(out, part.getStart());
      WritableUtils.writeVLong(out, part.getLength());
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    super.readFields(in);
    parts = new FileSplit[WritableUtils.readVInt(in)];
    for (int i = 0; i < parts.length; i++) {
      Path path = new Path(Text.readString(in));
      parts[i] = new FileSplit(path, WritableUtils.readVLong(in), WritableUtils.readVLong(in), (String[]) null);
    }
  }

  /** For logs: "3 splits: FILE:START+LENGTH, ...". */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder().append(parts.length).append(" splits: ");
    for (int i = 0; i < Math.min(SHOWN, parts.length); i++) {
      text.append(i == 0 ? "" : ", ").append(parts[i]);
    }
    return text.append(parts.length > SHOWN ? ", ..." : "").toString();
  }
}
