import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.kudu.ColumnSchema;
import org.apache.kudu.Schema;
import org.apache.kudu.Type;
import org.apache.kudu.client.CreateTableOptions;
import org.apache.kudu.client.Insert;
import org.apache.kudu.client.KuduClient;
import org.apache.kudu.client.KuduException;
import org.apache.kudu.client.KuduScanToken;
import org.apache.kudu.client.KuduScanner;
import org.apache.kudu.client.KuduSession;
import org.apache.kudu.client.KuduTable;
import org.apache.kudu.client.LocatedTablet;
import org.apache.kudu.client.PartialRow;
import org.apache.kudu.client.SessionConfiguration;

/**
 * Makes a table of three tablets in Kudu, loads rows into it, and counts them per tablet.
 *
 * Arguments: the master's address, the key (int-seq, composite, uuid4, uuid7), the partitioning (range, hash), the bytes
 * of the payload, the rows per batch. The first line of stdin says "begin", each further line is a key: a number or a
 * UUID. Stdout: "tablet PORT" for each tablet in the order of the ranges, then, after the rows, "seconds S", and "rows
 * PORT N" for each tablet.
 */
final class Load {
    private static final String TABLE = "t";
    private static final int TABLETS = 3;
    private static final int BUCKETS = 64;

    private Load() {}

    private static Schema schema(String key) {
        List<ColumnSchema> columns = new ArrayList<>();
        if (key.equals("composite")) {
            columns.add(new ColumnSchema.ColumnSchemaBuilder("bucket", Type.INT8).key(true).build());
        }
        Type type = key.startsWith("uuid") ? Type.BINARY : Type.INT64;
        columns.add(new ColumnSchema.ColumnSchemaBuilder("id", type).key(true).build());
        columns.add(new ColumnSchema.ColumnSchemaBuilder("payload", Type.BINARY).build());
        return new Schema(columns);
    }

    /** Divides all positive integers, all 16-byte keys, or all buckets evenly. */
    private static CreateTableOptions options(Schema schema, String key, String partition) {
        CreateTableOptions options = new CreateTableOptions().setNumReplicas(1);
        if (partition.equals("hash")) {
            return options.addHashPartitions(List.of("id"), TABLETS);
        }
        String column = schema.getColumnByIndex(0).getName();
        options.setRangePartitionColumns(List.of(column));
        for (int split = 1; split < TABLETS; split++) {
            PartialRow row = schema.newPartialRow();
            switch (key) {
                case "composite" -> row.addByte(column, (byte) (BUCKETS * split / TABLETS));
                case "int-seq" -> row.addLong(column, Long.MAX_VALUE / TABLETS * split);
                default -> {
                    long high = Long.divideUnsigned(-1L, TABLETS) * split;
                    row.addBinary(column, ByteBuffer.allocate(16).putLong(high).array());
                }
            }
            options.addSplitRow(row);
        }
        return options;
    }

    private static void addKey(PartialRow row, String key, String text) {
        if (key.startsWith("uuid")) {
            UUID id = UUID.fromString(text);
            row.addBinary("id", ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).array());
            return;
        }
        long id = Long.parseLong(text);
        row.addLong("id", id);
        if (key.equals("composite")) {
            // The multiplier of Fibonacci hashing: 2^64 divided by the golden ratio.
            row.addByte("bucket", (byte) ((id * 0x9E3779B97F4A7C15L) >>> 58));
        }
    }

    private static void insert(KuduClient client, KuduTable table, String key, int payloadBytes, int batch, BufferedReader keys)
            throws IOException {
        KuduSession session = client.newSession();
        session.setFlushMode(SessionConfiguration.FlushMode.AUTO_FLUSH_BACKGROUND);
        session.setMutationBufferSpace(batch);
        session.setTimeoutMillis(600_000);
        // The log is compressed, so the payload must not be.
        Random random = new Random(1);
        for (String text = keys.readLine(); text != null; text = keys.readLine()) {
            Insert insert = table.newInsert();
            byte[] payload = new byte[payloadBytes];
            random.nextBytes(payload);
            addKey(insert.getRow(), key, text);
            insert.getRow().addBinary("payload", payload);
            session.apply(insert);
        }
        session.close();
        if (session.countPendingErrors() > 0) {
            throw new IOException(session.getPendingErrors().getRowErrors()[0].toString());
        }
    }

    private static long count(KuduClient client, KuduScanToken token) throws IOException {
        KuduScanner scanner = token.intoScanner(client);
        long rows = 0;
        while (scanner.hasMoreRows()) {
            rows += scanner.nextRows().getNumRows();
        }
        return rows;
    }

    private static int port(LocatedTablet tablet) {
        return tablet.getLeaderReplica().getRpcPort();
    }

    private static List<KuduScanToken> tablets(KuduClient client, KuduTable table) throws KuduException {
        return client.newScanTokenBuilder(table).setProjectedColumnNames(List.of("id")).setTimeout(600_000).build();
    }

    public static void main(String[] arguments) throws Exception {
        String key = arguments[1];
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in), 1 << 20);
        try (KuduClient client = new KuduClient.KuduClientBuilder(arguments[0]).defaultOperationTimeoutMs(600_000).build()) {
            if (client.tableExists(TABLE)) {
                client.deleteTable(TABLE);
            }
            Schema schema = schema(key);
            KuduTable table = client.createTable(TABLE, schema, options(schema, key, arguments[2]));
            for (KuduScanToken token : tablets(client, table)) {
                System.out.println("tablet " + port(token.getTablet()));
            }
            System.out.flush();
            if (!"begin".equals(input.readLine())) {
                return;
            }
            long began = System.nanoTime();
            insert(client, table, key, Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]), input);
            System.out.println("seconds " + (System.nanoTime() - began) / 1e9);
            for (KuduScanToken token : tablets(client, table)) {
                System.out.println("rows " + port(token.getTablet()) + " " + count(client, token));
            }
        }
    }
}
