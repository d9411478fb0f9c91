using System.Text;
using Treepie.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Kernels;

public sealed class JsonValueScanTests
{
    private const int BlockBytes = 64;

    [Fact]
    public void The_end_of_random_values_is_found_however_they_are_cut()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 3_000; round++)
        {
            string value = Value(random, 5, isContainer: true);
            byte[] bytes = Encoding.UTF8.GetBytes(value + ",\"next\":[1]}");
            Assert.Equal((Encoding.UTF8.GetByteCount(value), true), Cut(bytes, random));
        }
    }

    [Fact]
    public void Random_bytes_end_where_the_scalar_twin_ends_them()
    {
        var random = new Random(Seed.Next());
        int whole = 0;
        for (int round = 0; round < 30_000; round++)
        {
            byte[] bytes = Noise(random);
            (int Length, bool IsWhole) expected = Scalar(bytes);
            Assert.Equal(expected, Cut(bytes, random));
            whole += expected.IsWhole ? 1 : 0;
        }

        Assert.InRange(whole, 3_000, 27_000);
    }

    [Fact]
    public void Each_run_of_backslashes_escapes_at_each_place_of_a_block()
    {
        for (int before = 0; before < 2 * BlockBytes; before++)
            for (int run = 0; run < (2 * BlockBytes) + 2; run++)
            {
                string start = $"[\"{new string('x', before)}{new string('\\', run)}\"";
                string text = $"{start}]\"]{new string(' ', BlockBytes)}";
                int expected = run % 2 == 0 ? start.Length + 1 : start.Length + 3;
                var scan = new JsonValueScan();
                Assert.Equal(expected, scan.Read(Encoding.UTF8.GetBytes(text)));
                Assert.True(scan.IsWhole);
            }
    }

    [Fact]
    public void Each_closing_bracket_at_each_place_of_a_block_ends_its_own_value()
    {
        for (int depth = 1; depth < 3 * BlockBytes; depth++)
            for (int before = 0; before < BlockBytes; before++)
            {
                string value = $"{new string('[', depth)}{new string(' ', before)}{new string(']', depth)}";
                byte[] bytes = Encoding.UTF8.GetBytes($"{value}]]]{new string('}', BlockBytes)}");
                var scan = new JsonValueScan();
                Assert.Equal(value.Length, scan.Read(bytes));
                Assert.True(scan.IsWhole);
            }
    }

    [Fact]
    public void Deep_nesting_is_counted_and_needs_no_stack()
    {
        const int depth = 5_000_000;
        var bytes = new byte[2 * depth];
        bytes.AsSpan(0, depth).Fill((byte)'[');
        bytes.AsSpan(depth).Fill((byte)']');
        var scan = new JsonValueScan();
        Assert.Equal(bytes.Length - 1, scan.Read(bytes.AsSpan(0, bytes.Length - 1)));
        Assert.False(scan.IsWhole);
        Assert.Equal(1, scan.Read("]]"u8));
        Assert.True(scan.IsWhole);
    }

    /// <summary>Scans in pieces, some of them empty.</summary>
    private static (int Length, bool IsWhole) Cut(ReadOnlySpan<byte> bytes, Random random)
    {
        int most = random.Next(3) switch { 0 => 3, 1 => BlockBytes + 2, _ => bytes.Length };
        var scan = new JsonValueScan();
        int position = 0;
        while (position < bytes.Length && !scan.IsWhole)
        {
            int piece = Math.Min(random.Next(most + 1), bytes.Length - position);
            position += scan.Read(bytes.Slice(position, piece));
        }

        return (position, scan.IsWhole);
    }

    private static (int Length, bool IsWhole) Scalar(ReadOnlySpan<byte> bytes)
    {
        int depth = 0;
        bool inString = false;
        for (int i = 0; i < bytes.Length; i++)
        {
            if (inString && bytes[i] == (byte)'\\')
                i++;
            else if (bytes[i] == (byte)'"')
                inString = !inString;
            else if (!inString && bytes[i] is (byte)'{' or (byte)'[')
                depth++;
            else if (!inString && bytes[i] is (byte)'}' or (byte)']')
                depth--;
            if (depth == 0 && !inString)
                return (i + 1, true);
        }

        return (bytes.Length, false);
    }

    /// <summary>Bytes that begin like a value and have many of the bytes that matter, in no order, and some like them.</summary>
    private static byte[] Noise(Random random)
    {
        byte[] kinds = [.. "\"\"\\\\{}[]{}[]"u8, .. "xyz:, "u8, 0x02, 0x3B, 0x5B ^ 0x80, 0x7C, 0xDB, 0xFF];
        int share = random.Next(1, 100);
        var bytes = new byte[random.Next(1, 6 * BlockBytes)];
        foreach (ref byte value in bytes.AsSpan())
            value = random.Next(100) < share ? kinds[random.Next(kinds.Length)] : (byte)'a';
        bytes.AsSpan(0, Math.Min(random.Next(BlockBytes), bytes.Length)).Fill((byte)'['); // else most end in their first block
        bytes[0] = "\"{["u8[random.Next(3)];
        return bytes;
    }

    private static string Value(Random random, int levels, bool isContainer = false) =>
        random.Next(isContainer ? 2 : 5) switch
        {
            0 when levels > 0 => $"{{{Join(random, () => $"{Text(random)}:{Value(random, levels - 1)}")}}}",
            1 when levels > 0 => $"[{Join(random, () => Value(random, levels - 1))}]",
            2 => Text(random),
            3 => "null",
            _ => random.Next(-1_000, 1_000_000).ToString(System.Globalization.CultureInfo.InvariantCulture),
        };

    private static string Join(Random random, Func<string> element) =>
        string.Join(random.Next(2) == 0 ? "," : " ,\n", Enumerable.Range(0, random.Next(6)).Select(_ => element()));

    private static string Text(Random random)
    {
        string[] parts = ["\\\\", "\\\"", "{", "}", "[", "]", "ü", "text of more than one word ", "\\u00e4", ":", ","];
        return $"\"{string.Concat(Enumerable.Range(0, random.Next(12)).Select(_ => parts[random.Next(parts.Length)]))}\"";
    }
}
