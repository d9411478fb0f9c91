using System.Runtime.InteropServices;
using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Memory;

public sealed class KeyLineTests
{
    [Fact]
    public void A_key_is_found_where_its_record_begins_and_a_value_is_no_key()
    {
        var random = new Random(Seed.Next());
        Span<ulong> words = stackalloc ulong[KeyLine.Bytes / sizeof(ulong)];
        for (int i = 0; i < 10_000; i++)
        {
            for (int word = 0; word < words.Length; word++)
                words[word] = (ulong)random.Next(12);
            ReadOnlySpan<byte> line = MemoryMarshal.AsBytes(words);
            for (ulong key = 0; key < 12; key++)
            {
                int expected = KeyLine.FindScalar(line, key);
                Assert.Equal(expected, KeyLine.Find(line, key));
                bool isThere = words[0] == key || words[2] == key || words[4] == key || words[6] == key;
                Assert.Equal(isThere, expected < KeyLine.Bytes);
                if (isThere)
                    Assert.Equal(key, MemoryMarshal.Read<ulong>(line[expected..]));
            }
        }
    }

    [Fact]
    public void A_line_that_is_too_short_is_refused() =>
        Assert.Throws<ArgumentException>(() => KeyLine.Find(new byte[KeyLine.Bytes - 1], 1));
}
