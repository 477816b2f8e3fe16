package org.heterodoop.mr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;

/**
 * Where the node's driver listens: a private folder, in it a socket (or a port file) per NodeManager or one for the node.
 *
 * <p>A folder that another user owns or can enter is not used: whoever listens there would get the job's environment, and
 * could answer with a result of his own.
 */
final class DriverAddress {
  private static final int OTHERS = 077;
  private static final int SECRET_BYTES = 32;

  private DriverAddress() {
  }

  /** The folders that may hold the driver's socket, first choice first. */
  static List<Path> folders(JobConf job) throws IOException {
    String named = job.get(Settings.DRIVER_DIR, "");
    if (!named.isEmpty()) {
      return Collections.singletonList(Paths.get(named));
    }
    String name = "heterodoop-" + ownUid();
    List<Path> folders = new ArrayList<>();
    folders.add(Paths.get("/run", name));
    folders.add(Paths.get("/tmp", name));
    return folders;
  }

  /** Names of the sockets (".sock") or port files (".port") of the driver: the NodeManager's own, then the node's. */
  static List<String> names(String suffix, String nodeManagerPort) {
    List<String> names = new ArrayList<>();
    if (nodeManagerPort != null && nodeManagerPort.matches("[0-9]{1,5}")) {
      names.add("driver-" + nodeManagerPort + suffix);
    }
    names.add("driver" + suffix);
    return names;
  }

  static void checkFolder(Path folder) throws IOException {
    check(folder, "isDirectory", "a folder");
  }

  static void checkSocket(Path socket) throws IOException {
    require(attributes(socket), socket, "isOther", "a socket");
  }

  static int port(Path file) throws IOException {
    check(file, "isRegularFile", "a file");
    String text = new String(Files.readAllBytes(file), StandardCharsets.US_ASCII).trim();
    if (!text.matches("[0-9]{1,5}")) {
      throw new UntrustedException(file + " holds no port");
    }
    return Integer.parseInt(text);
  }

  /** The key that proves each end to the other over TCP. */
  static byte[] secret(Path file) throws IOException {
    check(file, "isRegularFile", "a file");
    String text = new String(Files.readAllBytes(file), StandardCharsets.US_ASCII).trim();
    if (!text.matches("[0-9a-f]{" + 2 * SECRET_BYTES + "}")) {
      throw new UntrustedException(file + " does not hold " + SECRET_BYTES + " bytes in hexadecimal");
    }
    byte[] secret = new byte[SECRET_BYTES];
    for (int i = 0; i < secret.length; i++) {
      secret[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
    }
    return secret;
  }

  /** The owner of a path that was checked to be ours, as the form in which Java names users. */
  static UserPrincipal owner(Path checked) throws IOException {
    return Files.getOwner(checked, LinkOption.NOFOLLOW_LINKS);
  }

  private static void check(Path path, String kind, String what) throws IOException {
    Map<String, Object> found = attributes(path);
    require(found, path, kind, what);
    int mode = (Integer) found.get("mode") & 0777;
    if ((mode & OTHERS) != 0) {
      throw new UntrustedException(String.format("%s is open to others (mode %04o)", path, mode));
    }
  }

  private static void require(Map<String, Object> found, Path path, String kind, String what) throws IOException {
    if (!Boolean.TRUE.equals(found.get(kind))) {
      throw new UntrustedException(path + " is not " + what);
    }
    int owner = (Integer) found.get("uid");
    if (owner != ownUid()) {
      throw new UntrustedException(path + " belongs to user " + owner + " and not to user " + ownUid());
    }
  }

  private static Map<String, Object> attributes(Path path) throws IOException {
    return Files.readAttributes(path, "unix:uid,mode,isDirectory,isRegularFile,isOther", LinkOption.NOFOLLOW_LINKS);
  }

  /** The effective uid of this process. Not user.name, which a job may set. */
  static int ownUid() throws IOException {
    for (String line : Files.readAllLines(Paths.get("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
      if (line.startsWith("Uid:")) {
        return Integer.parseInt(line.split("\\s+")[2]);
      }
    }
    throw new IOException("/proc/self/status names no uid");
  }
}
